/** Line icons on a 16 px grid. */
const PATHS = {
  add: "M8 3v10M3 8h10",
  clear: "M3 4.5h10M6.5 4.500v-2h3v2M4.500 4.500 5 13.500h6l.500-9",
  follow: "M8 2.500v8M4.500 7.500 8 11l3.500-3.500M3.500 13.500h9",
  reconnect: "M13 8a5 5 0 0 1-9 3M3 8a5 5 0 0 1 9-3M12.500 2v3.200H9.300M3.500 14v-3.200h3.200",
  terminal: "m3 5 3 3-3 3M8 11.500h5",
  lineBuffer: "M3 5h7M3 8h10M3 11h5M12 9.500v3h-2.500",
  lines: "M6.500 4h7M6.500 8h7M6.500 12h7M2.800 3.200v2M2.300 7.300h1v1.500M2.300 11.300h1v1.500h-1",
  clock: "M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11ZM8 5v3l2 1.500",
  echo: "M2.500 5.500h8a3 3 0 0 1 0 6h-6M6.500 9l-2.500 2.500L6.500 14",
  save: "M8 2.500v7M5 7l3 3 3-3M3 12.500h10",
  copy: "M6 6h7v7.500H6zM10 6V2.500H3V10h3",
  more: "M3 8h.010M8 8h.010M13 8h.010",
  sliders: "M3 5h5M11.500 5H13M3 11h1.500M8 11h5M9.800 3.300v3.400M6.200 9.300v3.400",
  close: "m4 4 8 8M12 4l-8 8",
  rescan: "M12.800 6.500A5 5 0 0 0 3.300 6M3.200 9.500a5 5 0 0 0 9.500.500M13 3v3.500H9.500M3 13V9.500h3.500",
  file: "M4 2.500h5l3 3v8H4zM9 2.500v3h3M8 7v4M6.300 8.700 8 7l1.700 1.700",
  send: "M3 8h9M8.500 4.500 12 8l-3.500 3.500",
  moon: "M13 9.500A5.500 5.500 0 0 1 6.500 3 5.500 5.500 0 1 0 13 9.500Z",
  keyboard: "M2 4.500h12v7.500H2zM4.500 7h.010M7 7h.010M9.500 7h.010M12 7h.010M5 9.700h6",
  pause: "M5.500 3.500v9M10.500 3.500v9",
  play: "M5 3.500v9l7-4.500z",
  side: "M2.500 3.500h11v9h-11zM10 3.500v9",
  rail: "M2.500 3.500h11v9h-11zM6 3.500v9",
  search: "M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM10 10l3.500 3.500",
  regex: "M10.500 2.500v6M7.900 4l5.200 3M13.100 4 7.900 7M3 13h.010M6 13h.010",
  letterCase: "M2 12l3-8 3 8M3 9.500h4M13.500 8v4M13.500 10a2 2 0 1 1-4 0 2 2 0 0 1 4 0Z",
  down: "m4 6.500 4 4 4-4",
  up: "m4 9.500 4-4 4 4",
  book:
    "M8 4.500C6.500 3 4.500 3 2.500 3.500V13c2-.500 4-.500 5.500 1 1.500-1.500 3.500-1.500 5.500-1V3.500c-2-.500-4-.500-5.500 1ZM8 4.500V14",
  filter: "M2.500 3.500h11L9.300 8.700v3.800l-2.600 1.300V8.700z",
  plot: "M2.500 13.500h11M3 10l3-4 3 2.500L13 3",
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration: the control that holds it has the name. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} stroke-width={name === "more" ? "2.4" : "1.6"} />
    </svg>
  );
}
