/** Two languages, switched live: `t(key)` reads a signal, so whatever was rendered with it renders anew. */
import { signal } from "@preact/signals";
import { en } from "./en.ts";
import { zh } from "./zh.ts";

export type Language = "en" | "zh";
export type Key = keyof typeof en;
export type Params = Readonly<Record<string, string | number>>;

export const LANGUAGES: readonly Language[] = ["en", "zh"];
export const TEXTS: Readonly<Record<Language, Readonly<Record<Key, string>>>> = { en, zh };
export const language = signal<Language>("en");

/** What a browser's list of languages asks for. */
export const languageOf = (wanted: readonly string[]): Language =>
  (wanted[0] ?? "en").toLowerCase().startsWith("zh") ? "zh" : "en";

/** A count with its thousands apart, the same in both languages. */
export const count = (n: number): string => n.toLocaleString("en-US");

/**
 * Fills a text in: `{name}` is the parameter, `{n:line|lines}` the form for one or for many. A number is written with
 * its thousands apart. A parameter is text and stays text.
 */
export function fill(text: string, params: Params = {}): string {
  return text.replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = params[name];
    if (value === undefined) return whole;
    if (one !== undefined && many !== undefined) return value === 1 ? one : many;
    return typeof value === "number" ? count(value) : value;
  });
}

export const t = (key: Key, params?: Params): string => fill(TEXTS[language.value][key], params);

/** Sentences one after the other; Chinese has no blank between them. */
export const sentences = (...all: readonly string[]): string =>
  all.filter((one) => one !== "").join(language.value === "zh" ? "" : " ");
