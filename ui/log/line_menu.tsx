/** What can be done with a line: where the mouse or the keyboard asked for it. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../controls/button.tsx";
import { t } from "../i18n/mod.ts";
import { numbersOf } from "../plot/numbers.ts";

export interface MenuPlace {
  x: number;
  y: number;
  row: number;
}

export interface LineMenuProps {
  place: MenuPlace;
  path: (id: string) => string;
  line: string;
  /** What is selected; empty: nothing. */
  selection: string;
  onClose(): void;
  onCopy(text: string): unknown;
  onFind: ((text: string) => void) | undefined;
  onOnly: ((text: string) => void) | undefined;
  onPlot: (() => void) | undefined;
}

const SHORT = 24;
const MARGIN = 8;
const short = (text: string): string => text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;

export function LineMenu(props: LineMenuProps) {
  const { place, path, line, selection, onClose, onFind, onOnly, onPlot } = props;
  const ref = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState({ left: "-999px", top: "0px" });
  useLayoutEffect(() => {
    const box = ref.current?.getBoundingClientRect();
    if (!box) return;
    const left = Math.max(MARGIN, Math.min(place.x, innerWidth - box.width - MARGIN));
    const top = place.y + box.height + MARGIN > innerHeight ? Math.max(MARGIN, place.y - box.height) : place.y;
    setAt({ left: `${left}px`, top: `${top}px` });
    ref.current?.querySelector("button")?.focus();
  }, [place]);
  useEffect(() => {
    const away = (event: Event) => {
      if (event.target instanceof Node && !ref.current?.contains(event.target)) onClose();
    };
    document.addEventListener("pointerdown", away, { capture: true });
    return () => document.removeEventListener("pointerdown", away, { capture: true });
  }, [onClose]);
  const one = selection.includes("\n") ? "" : selection.trim();
  const item = (id: string, label: string, use: () => unknown, reason: string | null = null) => (
    <Button
      path={path(id)}
      label={label}
      look="quiet"
      disabledReason={reason}
      onClick={async () => {
        await use();
        onClose();
      }}
    >
      {label}
    </Button>
  );
  return (
    <div
      class="popover line-menu"
      role="group"
      aria-label={t("log.menu")}
      ref={ref}
      style={at}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          event.preventDefault();
          event.stopPropagation();
          return onClose();
        }
        const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
        if (step === 0) return;
        event.preventDefault();
        const buttons = [...(ref.current?.querySelectorAll("button") ?? [])];
        const now = buttons.findIndex((b) => b === document.activeElement);
        buttons[(now + step + buttons.length) % buttons.length]?.focus();
      }}
    >
      {selection !== "" && item("copySelection", t("log.copySelection"), () => props.onCopy(selection))}
      {item("copyLine", t("log.copyLine"), () => props.onCopy(line))}
      {onPlot && item("plotLine", t("log.plotLine"), onPlot, numbersOf(line) ? null : t("plot.empty"))}
      {one !== "" && onFind && item("findThis", t("log.findThis", { text: short(one) }), () => onFind(one))}
      {one !== "" && onOnly && item("onlyThis", t("log.onlyThis", { text: short(one) }), () => onOnly(one))}
    </div>
  );
}
