/** Tells a screen reader what came, at a pace that can be listened to, and only while the person is in the log. */
import { t } from "../i18n/mod.ts";
import type { LineFeed } from "../lib/ring_client.ts";
import type { LogSurface } from "./surface.ts";

const EVERY_MS = 4000;
const MOST_CHARS = 160;

export function announce(feed: LineFeed, surface: LogSurface, box: HTMLElement, into: HTMLElement): () => void {
  let told = feed.store.endRow;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = () => {
    timer = undefined;
    const { endRow } = feed.store;
    const isListening = document.activeElement === box && surface.following;
    if (isListening && endRow > told) {
      const text = surface.lineText(endRow - 1)?.text.slice(0, MOST_CHARS) ?? "";
      into.textContent = endRow - told === 1 ? text : t("log.news", { n: endRow - told, text });
    }
    told = endRow;
  };
  const stop = feed.onChange(() => timer ??= setTimeout(tell, EVERY_MS));
  return () => {
    stop();
    clearTimeout(timer);
  };
}

/** Reads one line out at once: where the keyboard has moved to. */
export function say(box: HTMLElement, text: string): void {
  const status = box.closest(".logv")?.querySelector("[role=status]");
  if (status) status.textContent = text.slice(0, MOST_CHARS);
}
