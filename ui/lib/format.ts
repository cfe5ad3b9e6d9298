/** Numbers as people read them. Pure. */
import { count, t } from "../i18n/mod.ts";

/** `11 kB`, `2.9 MB`: decimal units, three figures at most. */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = n;
  let unit = "B";
  for (const u of units) {
    if (value < 999.5) break;
    value /= 1000;
    unit = u;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** A rate of lines, a second. */
export const rate = (perSec: number): string =>
  t("unit.perSec", { n: perSec < 10 && perSec > 0 ? perSec.toFixed(1) : Math.round(perSec) });

/** How long: `120 ms`, `3.7 s`, `4:05`, `1:02:03`. */
export function took(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return t("unit.seconds", { n: (ms / 1000).toFixed(1) });
  return clockSpan(ms);
}

/** A span as a clock: `0:12`, `4:05`, `1:02:03`, `2 d 03:04`. */
export function clockSpan(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (n: number) => String(n).padStart(2, "0");
  if (s >= 86_400) {
    return `${Math.floor(s / 86_400)} d ${two(Math.floor(s / 3600) % 24)}:${two(Math.floor(s / 60) % 60)}`;
  }
  if (s >= 3600) return `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
  return `${Math.floor(s / 60)}:${two(s % 60)}`;
}

/** How long ago, without false precision: `12 s`, `4 min`, `2 h`. */
export function ago(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return t("unit.seconds", { n: s });
  return s < 3600 ? t("unit.minutes", { n: Math.floor(s / 60) }) : t("unit.hours", { n: Math.floor(s / 3600) });
}

/** Local time of day with milliseconds: `14:02:11.204`. */
export function timeOfDay(wallMs: number): string {
  const d = new Date(wallMs);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}.${
    String(d.getMilliseconds()).padStart(3, "0")
  }`;
}

export { count };
