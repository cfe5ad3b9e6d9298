/**
 * SGR styles (ECMA-48 8.3.117; 256 colours and true colour as xterm has them), interned so that a line keeps the style
 * that it starts with as one small number. Pure.
 */
import { sequenceEnd } from "../../src/core/ansi.ts";

export const ATTR = { bold: 1, dim: 2, italic: 4, underline: 8, inverse: 16, strike: 32 } as const;

export interface Style {
  /** 0: default; 1 to 256: palette index + 1; from {@link RGB}: 24 bits of colour. */
  readonly fg: number;
  readonly bg: number;
  readonly attrs: number;
}
export const RGB = 0x1000000;
export const PLAIN = 0;

const MAX_STYLES = 65_536;
const ESC = 0x1b;
const styles: Style[] = [{ fg: 0, bg: 0, attrs: 0 }];
const ids = new Map<string, number>([["0 0 0", PLAIN]]);

export const styleOf = (id: number): Style => styles[id] ?? styles[PLAIN] ?? { fg: 0, bg: 0, attrs: 0 };

/** Number of a style. A device that makes up more than 65,536 of them gets the plain one for the rest. */
export function styleId(style: Style): number {
  const key = `${style.fg} ${style.bg} ${style.attrs}`;
  const held = ids.get(key);
  if (held !== undefined) return held;
  if (styles.length >= MAX_STYLES) return PLAIN;
  styles.push({ ...style });
  ids.set(key, styles.length - 1);
  return styles.length - 1;
}

const ON: Readonly<Record<number, number>> = {
  1: ATTR.bold,
  2: ATTR.dim,
  3: ATTR.italic,
  4: ATTR.underline,
  7: ATTR.inverse,
  9: ATTR.strike,
  21: ATTR.underline,
};
const OFF: Readonly<Record<number, number>> = {
  22: ATTR.bold | ATTR.dim,
  23: ATTR.italic,
  24: ATTR.underline,
  27: ATTR.inverse,
  29: ATTR.strike,
};

/** A colour after 38 or 48: its value (undefined: none that is known) and where the next parameter is. */
function colour(params: readonly number[], at: number): { value: number | undefined; next: number } {
  const byte = (n: number | undefined): number => Math.max(0, Math.min(255, n ?? 0));
  if (params[at] === 5) return { value: byte(params[at + 1]) + 1, next: at + 2 };
  if (params[at] !== 2) return { value: undefined, next: at + 1 };
  const rgb = byte(params[at + 1]) << 16 | byte(params[at + 2]) << 8 | byte(params[at + 3]);
  return { value: RGB + rgb, next: at + 4 };
}

/** Colon forms (`38:2::r:g:b`, `38:5:n`, `4:3`) as the semicolon form that means the same. */
function flatten(text: string): number[] {
  const out: number[] = [];
  for (const part of text.split(";")) {
    const sub = part.split(":");
    if (sub.length === 1) out.push(Number(part) || 0);
    else if (sub[0] === "4") out.push(sub[1] === "0" ? 24 : 4);
    else if (sub[1] === "2") out.push(Number(sub[0]), 2, ...sub.slice(-3).map((s) => Number(s) || 0));
    else out.push(...sub.map((s) => Number(s) || 0));
  }
  return out;
}

/** The style after the parameters of one SGR sequence. */
export function applySgr(style: Style, params: string): Style {
  if (!/^[0-9;:]*$/.test(params)) return style;
  let { fg, bg, attrs } = style;
  const list = flatten(params);
  for (let i = 0; i < list.length; i++) {
    const p = list[i] ?? 0;
    const on = ON[p];
    const off = OFF[p];
    if (p === 0) fg = bg = attrs = 0;
    else if (on !== undefined) attrs |= on;
    else if (off !== undefined) attrs &= ~off;
    else if (p >= 30 && p <= 37) fg = p - 29;
    else if (p >= 90 && p <= 97) fg = p - 81;
    else if (p === 39) fg = 0;
    else if (p >= 40 && p <= 47) bg = p - 39;
    else if (p >= 100 && p <= 107) bg = p - 91;
    else if (p === 49) bg = 0;
    else if (p === 38 || p === 48) {
      const { value, next } = colour(list, i + 1);
      if (value !== undefined && p === 38) fg = value;
      else if (value !== undefined) bg = value;
      i = next - 1;
    }
  }
  return { fg, bg, attrs };
}

const ascii = new TextDecoder("latin1");

/** Style after the sequence `bytes[from, to)`; any but SGR changes nothing. */
export function styleAfterSequence(id: number, bytes: Uint8Array, from: number, to: number): number {
  if (bytes[to - 1] !== 0x6d || bytes[from + 1] !== 0x5b) return id;
  return styleId(applySgr(styleOf(id), ascii.decode(bytes.subarray(from + 2, to - 1))));
}

/** Style in force after a line: what the next line of that direction starts with. */
export function styleAfter(id: number, bytes: Uint8Array): number {
  let at = bytes.indexOf(ESC);
  while (at >= 0) {
    const end = sequenceEnd(bytes, at, bytes.length);
    if (end > 0) id = styleAfterSequence(id, bytes, at, end);
    at = bytes.indexOf(ESC, end > 0 ? end : at + 1);
  }
  return id;
}

type Rgb = readonly [number, number, number];
const CUBE = [0, 95, 135, 175, 215, 255] as const;

/** Colours 16 to 255 of xterm: a cube of 6×6×6, then 24 greys. */
export function paletteRgb(index: number): Rgb {
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return [grey, grey, grey];
  }
  const n = Math.max(0, index - 16);
  return [CUBE[Math.floor(n / 36)] ?? 0, CUBE[Math.floor(n / 6) % 6] ?? 0, CUBE[n % 6] ?? 0];
}

const channel = (v: number): number => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
/** Relative luminance, WCAG 2. */
export const luminance = ([r, g, b]: Rgb): number => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
export const contrast = (a: number, b: number): number => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

/** A colour moved towards black or white until it can be read on that ground: a device does not know our theme. */
export function readable(rgb: Rgb, ground: number, wanted = 4.6): Rgb {
  const to = contrast(1, ground) > contrast(0, ground) ? 255 : 0;
  for (let part = 0; part <= 1; part += 0.05) {
    const [r, g, b] = rgb;
    const mixed: Rgb = [r + (to - r) * part, g + (to - g) * part, b + (to - b) * part].map(
      Math.round,
    ) as unknown as Rgb;
    if (contrast(luminance(mixed), ground) >= wanted) return mixed;
  }
  return [to, to, to];
}
