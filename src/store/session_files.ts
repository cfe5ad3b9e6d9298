import { join } from "node:path";

/** The three files of a part: received bytes, sent bytes, readable lines of both. */
export const KINDS = ["rx", "tx", "log"] as const;
export type Kind = (typeof KINDS)[number];
const SUFFIX = { rx: ".rx.bin", tx: ".tx.bin", log: ".log" } as const;

/** One part of a pane's session log. Numbers count per pane and day, so they tell the order of the parts. */
export interface Part {
  readonly pane: string;
  readonly port: string;
  /** Local date, `YYYY-MM-DD`. */
  readonly date: string;
  readonly number: number;
}

/** A pane's name as it stands in file names. */
export const safePane = (pane: string): string => pane.replace(/[^A-Za-z0-9-]+/g, "_").slice(0, 40) || "pane";

/**
 * A port's name as it stands in file names: no dash, so that a name can be taken apart again, and nothing that any
 * file system refuses. Names that this makes alike are told apart by a short sum of the whole.
 */
export function safePort(port: string): string {
  const short = port.replace(/^\/dev\//, "").replace(/^\\\\\.\\/, "");
  const safe = short.replace(/[^A-Za-z0-9.]+/g, "_").replace(/^[._]+|[._]+$/g, "");
  if (short === "") return "none";
  // A slash or dash that became an underscore is no loss; other characters and a cut are.
  if (safe !== "" && safe.length <= 48 && /^[A-Za-z0-9._/-]+$/.test(short)) return safe;
  let sum = 0x811c9dc5;
  for (let i = 0; i < port.length; i++) sum = Math.imul(sum ^ port.charCodeAt(i), 0x01000193) >>> 0;
  return `${safe.slice(0, 40)}_${sum.toString(16).padStart(8, "0")}`.replace(/^_/, "");
}

export const fileName = (part: Part, kind: Kind): string =>
  `session-${part.pane}-${part.port}-${part.date}-${String(part.number).padStart(3, "0")}${SUFFIX[kind]}`;

const PATTERN = /^session-(.+)-([^-]+)-(\d{4}-\d\d-\d\d)-(\d{3,})\.(rx\.bin|tx\.bin|log)$/;

/** Takes a file name apart; undefined if it is none of ours. */
export function parseFileName(name: string): { part: Part; kind: Kind } | undefined {
  const [, pane, port, date, number, suffix] = PATTERN.exec(name) ?? [];
  if (!pane || !port || !date || !number || !suffix) return undefined;
  return {
    part: { pane, port, date, number: Number(number) },
    kind: suffix === "log" ? "log" : suffix === "rx.bin" ? "rx" : "tx",
  };
}

/** Local date of a wall-clock time, and the span of that day in ms: `[from, to)`. */
export function dayOf(wallMs: number): { date: string; from: number; to: number } {
  const d = new Date(wallMs);
  const [y, m, day] = [d.getFullYear(), d.getMonth(), d.getDate()];
  const date = `${String(y).padStart(4, "0")}-${String(m + 1).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
  return { date, from: new Date(y, m, day).getTime(), to: new Date(y, m, day + 1).getTime() };
}

/** Session log files of one pane, each with the part it belongs to. A folder that is not there has none. */
export async function filesOf(folder: string, pane: string): Promise<{ name: string; part: Part; kind: Kind }[]> {
  const found: { name: string; part: Part; kind: Kind }[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (!entry.isFile) continue;
      const parsed = parseFileName(entry.name);
      if (parsed?.part.pane === pane) found.push({ name: entry.name, ...parsed });
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found;
}

const sizeOf = async (path: string): Promise<number> => {
  try {
    return (await Deno.stat(path)).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
};

/**
 * The part to write next: the last one of the same port and day if it has room and `fresh` is false, else a new
 * number. Gives the sizes that its files have already.
 */
export async function nextPart(
  folder: string,
  want: Omit<Part, "number">,
  options: { fresh: boolean; maxBytes: number },
): Promise<{ part: Part; sizes: Record<Kind, number> }> {
  const parts = (await filesOf(folder, want.pane)).map((f) => f.part).filter((p) => p.date === want.date);
  const sizes = { rx: 0, tx: 0, log: 0 };
  const same = parts.filter((p) => p.port === want.port).map((p) => p.number);
  if (!options.fresh && same.length) {
    const part = { ...want, number: Math.max(...same) };
    for (const kind of KINDS) sizes[kind] = await sizeOf(join(folder, fileName(part, kind)));
    if (Math.max(sizes.rx, sizes.tx, sizes.log) < options.maxBytes) return { part, sizes };
  }
  const number = parts.reduce((most, p) => Math.max(most, p.number), 0) + 1;
  return { part: { ...want, number }, sizes: { rx: 0, tx: 0, log: 0 } };
}

const idOf = (p: Part): string => `${p.date} ${p.port} ${p.number}`;

/** Removes the parts that were written longest ago until `keep` are left; `current` stays and counts as one. */
export async function prune(folder: string, current: Part, keep: number): Promise<void> {
  const files = await filesOf(folder, current.pane);
  const parts = new Map<string, { part: Part; names: string[]; written: number }>();
  for (const { name, part } of files) {
    if (idOf(part) === idOf(current)) continue;
    const entry = parts.get(idOf(part)) ?? { part, names: [], written: 0 };
    entry.names.push(name);
    parts.set(idOf(part), entry);
  }
  if (parts.size <= keep - 1) return;
  for (const entry of parts.values()) {
    for (const name of entry.names) {
      const info = await Deno.stat(join(folder, name)).catch(() => undefined);
      entry.written = Math.max(entry.written, info?.mtime?.getTime() ?? 0);
    }
  }
  const oldestFirst = [...parts.values()].sort((a, b) =>
    a.written - b.written || a.part.date.localeCompare(b.part.date) || a.part.number - b.part.number
  );
  for (const entry of oldestFirst.slice(0, parts.size - (keep - 1))) {
    for (const name of entry.names) await Deno.remove(join(folder, name)).catch(() => {});
  }
}
