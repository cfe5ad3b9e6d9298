/** Numbers in a line of text: `name:value` pairs, a row of comma-separated values, or the last number there is. Pure. */
export interface Numbers {
  kind: "named" | "csv" | "last";
  values: readonly (readonly [name: string, value: number])[];
}

const MOST_VALUES = 16;
const NUMBER = "[-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?";
/** A name, `:` or `=`, a number, and then no letter or digit that would make it another word; a unit may follow. */
const NAMED = new RegExp(`([A-Za-z_][\\w./%-]{0,31})\\s*[:=]\\s*(${NUMBER})(?![\\w.:]*[:\\d])`, "g");
const CSV = new RegExp(`^\\s*(${NUMBER})(?:\\s*[,;\\t]\\s*${NUMBER})+\\s*[,;]?\\s*$`);
const ALONE = new RegExp(`(?<![\\w.:])${NUMBER}(?![\\w.:]*[\\w:])`, "g");

function named(text: string): Numbers | undefined {
  const seen = new Map<string, number>();
  for (const m of text.matchAll(NAMED)) {
    const name = m[1];
    if (name !== undefined && !seen.has(name) && seen.size < MOST_VALUES) seen.set(name, Number(m[2]));
  }
  return seen.size > 0 ? { kind: "named", values: [...seen] } : undefined;
}

function csv(text: string): Numbers | undefined {
  if (!CSV.test(text)) return undefined;
  const parts = text.split(/[,;\t]/).map((p) => p.trim()).filter((p) => p !== "");
  return { kind: "csv", values: parts.slice(0, MOST_VALUES).map((p, i) => [`#${i + 1}`, Number(p)] as const) };
}

function last(text: string): Numbers | undefined {
  const found = [...text.matchAll(ALONE)].pop();
  return found ? { kind: "last", values: [["last", Number(found[0])]] } : undefined;
}

/** What a line offers; `kind`: only that. Undefined: no number. */
export function numbersOf(text: string, kind?: Numbers["kind"]): Numbers | undefined {
  if (text.length > 4096) text = text.slice(0, 4096);
  if (kind === "named") return named(text);
  if (kind === "csv") return csv(text);
  if (kind === "last") return last(text);
  return csv(text) ?? named(text) ?? last(text);
}
