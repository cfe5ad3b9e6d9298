/** What the buttons of a pane do: the same gated calls that an agent makes. */
import { signal } from "@preact/signals";
import { t } from "../i18n/mod.ts";
import { CallError } from "../lib/connection.ts";
import { hintOf, markShown, notify } from "../lib/notify.ts";
import { act, call } from "../lib/server.ts";
import { layout, setLayout } from "../lib/settings.ts";
import type { InputOf } from "../../tools/mod.ts";

type Display = Omit<InputOf<"serial_set_display">, "pane">;

/** What to do about the last start that did not work, by pane. */
export const hints = signal<Readonly<Record<string, string>>>({});

export async function start(pane: string): Promise<void> {
  hints.value = { ...hints.peek(), [pane]: "" };
  try {
    await call("serial_open", { pane });
  } catch (error) {
    if (error instanceof CallError) {
      hints.value = { ...hints.peek(), [pane]: hintOf(error) };
      // The pane itself says why, and offers the next step.
      if (error.reason !== "server_gone" && error.reason !== undefined) markShown(error);
    }
    throw error;
  }
}

export const stop = (pane: string): Promise<unknown> => call("serial_close", { pane });
export const setDisplay = (pane: string, display: Display): Promise<unknown> =>
  call("serial_set_display", { ...display, pane });

export type View = "text" | "hex" | "both";

/** Both is a way to look at text lines; hex changes what is recorded, so it is the server's. */
export async function setView(pane: string, view: View, now: "text" | "hex"): Promise<void> {
  const both = layout.peek().both.filter((name) => name !== pane);
  setLayout({ both: view === "both" ? [...both, pane] : both });
  const wanted = view === "hex" ? "hex" : "text";
  if (wanted !== now) await setDisplay(pane, { viewMode: wanted });
}

/** Downloads without leaving the page. */
export function download(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}

export async function save(pane: string): Promise<void> {
  const { url, name } = await act("log.saveAs", { pane, kind: "text" });
  download(url, name);
  notify(t("pane.saved", { name }));
}

export async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  const lines = text === "" ? 0 : text.split("\n").length;
  notify(t("pane.copied", { n: lines }));
}
