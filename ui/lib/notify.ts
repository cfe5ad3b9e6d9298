/** Short messages that float at the foot of the page. */
import { signal } from "@preact/signals";
import { type Key, t } from "../i18n/mod.ts";
import { CallError } from "./connection.ts";

export interface Toast {
  id: number;
  kind: "info" | "error";
  text: string;
  detail: string;
}

export const toasts = signal<readonly Toast[]>([]);
let nextId = 1;

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

function add(kind: Toast["kind"], text: string, detail: string, ms: number): void {
  const id = nextId++;
  // The same message twice is one message.
  const others = toasts.value.filter((one) => one.text !== text);
  toasts.value = [...others.slice(-2), { id, kind, text, detail }];
  setTimeout(() => dismiss(id), ms);
}

export const notify = (text: string): void => add("info", text, "", 4000);

/** Reasons that have words of their own here; any other shows the server's. */
const REASONS: Readonly<Record<string, Key>> = {
  server_gone: "error.serverGone",
  not_open: "error.notOpen",
  canceled: "error.canceled",
  timed_out: "error.timedOut",
  no_device: "error.noDevice",
  full: "error.full",
};

/** What to do next, for a person: the server's hints speak of tools, which a person has not. */
const HINTS: Readonly<Record<string, Key>> = {
  in_use: "hint.inUse",
  no_device: "hint.noDevice",
  not_open: "hint.notOpen",
};

export function hintOf(error: CallError): string {
  const key = error.reason === undefined ? undefined : HINTS[error.reason];
  if (key !== undefined) return t(key);
  return error.hint === undefined || /\b(?:serial|log|mcp|ui|ble|adb)_\w+/.test(error.hint) ? "" : error.hint;
}

/** Where a failure is told in its own place already: no message floats over it. */
const shown = new WeakSet<Error>();
export function markShown(error: Error): void {
  shown.add(error);
}

/** A failure in words: what happened, and what to do. */
export function explain(error: unknown): { text: string; detail: string } {
  if (!(error instanceof CallError)) {
    return { text: error instanceof Error ? error.message : String(error), detail: "" };
  }
  const key = error.reason === undefined ? undefined : REASONS[error.reason];
  const said = error.message.replace(/^-\d{5}:?\s*/, "");
  if (key === undefined) return { text: said, detail: hintOf(error) };
  return { text: t(key), detail: error.reason === "server_gone" ? "" : said };
}

export function notifyError(error: unknown): void {
  if (error instanceof CallError && (error.reason === "canceled" || shown.has(error))) return;
  const { text, detail } = explain(error);
  add("error", text, detail, 9000);
}
