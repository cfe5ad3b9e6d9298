/** Terminal mode: what the device sends drives a terminal, and keys go out as they are typed or in whole lines. */
import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { LIMITS } from "../../tools/limits.ts";
import { t } from "../i18n/mod.ts";
import { notifyError } from "../lib/notify.ts";
import { type LineFeed, takeFeed } from "../lib/ring_client.ts";
import { act, connection } from "../lib/server.ts";
import { accent, dark, highContrast } from "../lib/settings.ts";
import { matches, SHORTCUTS } from "../lib/shortcuts.ts";
import { paneSettings, ready, wallOf } from "../lib/store.ts";
import { CHAN } from "../log/line_store.ts";
import type { TerminalProps } from "../panes/log_seam.ts";
import { LineEditor } from "./line_editor.ts";
import { RawFeed } from "./raw_feed.ts";
import { allowSpanStyles, withSheets } from "./style_sheets.ts";

/** Lines from before the terminal was opened that it starts with. */
const BACKLOG = 1000;
const SCROLLBACK = 10_000;
const ENDINGS = { crlf: "\r\n", lf: "\n", cr: "\r", none: "" } as const;

const token = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function theme() {
  const a = (n: number) => token(`--a${n}`);
  return {
    background: token("--bg"),
    foreground: token("--text"),
    cursor: token("--accent"),
    cursorAccent: token("--bg"),
    selectionBackground: token("--sel"),
    black: a(0),
    red: a(1),
    green: a(2),
    yellow: a(3),
    blue: a(4),
    magenta: a(5),
    cyan: a(6),
    white: a(7),
    brightBlack: a(8),
    brightRed: a(9),
    brightGreen: a(10),
    brightYellow: a(11),
    brightBlue: a(12),
    brightMagenta: a(13),
    brightCyan: a(14),
    brightWhite: a(15),
  };
}

/** What the device is answered by itself (`ESC [ c`, `ESC [ 6 n` …) only while keys go out one by one. */
function muteAnswers(terminal: Terminal, muted: () => boolean): void {
  for (const id of [{ final: "c" }, { prefix: ">", final: "c" }, { final: "n" }, { prefix: "?", final: "n" }]) {
    terminal.parser.registerCsiHandler(id, muted);
  }
}

interface Held {
  terminal: Terminal;
  lineBuffered: boolean;
  connected: boolean;
  /** Old lines are being written: nothing in them is answered. */
  replaying: boolean;
}

function makeTerminal(element: HTMLElement, stops: (() => void)[]): Terminal {
  allowSpanStyles();
  const terminal = new Terminal({
    fontFamily: token("--font-mono") || "monospace",
    fontSize: 13,
    scrollback: SCROLLBACK,
    theme: theme(),
    // Devices that end lines with LF alone are many; those that need a bare LF to go straight down are few.
    convertEol: true,
    cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    // What is pasted is what is sent.
    ignoreBracketedPasteMode: true,
    // A link of a device is text and opens nothing.
    linkHandler: { activate: () => {}, allowNonHttpProtocols: false },
    minimumContrastRatio: 4.5,
  });
  withSheets(stops, () => terminal.open(element));
  return terminal;
}

function replay(feed: LineFeed, raw: RawFeed): void {
  const { store } = feed;
  const records: { seq: number; flags: number; bytes: Uint8Array }[] = [];
  for (let row = Math.max(store.firstRow, store.runRow, store.endRow - BACKLOG); row < store.endRow; row++) {
    const line = store.line(row);
    if (line?.chan === CHAN.rx) records.push(line);
  }
  raw.push(records, store.partials.find((line) => line.chan === CHAN.rx));
}

export function TerminalView({ pane, channelRx, lineBuffered, connected, handle }: TerminalProps) {
  const channelTx = paneSettings(pane)?.logChannels.tx ?? null;
  const held = useMemo(
    () => takeFeed(connection(), { rx: channelRx, tx: channelTx, pane }, ready.peek() ? wallOf(0) : undefined),
    [channelRx, channelTx],
  );
  const box = useRef<HTMLDivElement>(null);
  const now = useRef<Held | null>(null);
  useEffect(() => held.release, [held]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const { feed } = held;
    const stops: (() => void)[] = [];
    const terminal = makeTerminal(element, stops);
    const state: Held = { terminal, lineBuffered, connected, replaying: true };
    now.current = state;
    muteAnswers(terminal, () => state.lineBuffered || state.replaying);
    const raw = new RawFeed({
      write: (bytes) => terminal.write(bytes),
      flagsOf: async (seq) => (await connection().fetch(channelRx, seq, 1)).records.find((r) => r.seq === seq)?.flags,
    });
    replay(feed, raw);
    stops.push(feed.onRecords((records, chan, open) => chan === CHAN.rx && raw.push(records, open)));
    raw.settled.then(() => terminal.write("", () => state.replaying = false));
    const keys = (data: string) => {
      for (let at = 0; at < data.length; at += LIMITS.maxSendChars) {
        act("pane.keys", { pane, data: data.slice(at, at + LIMITS.maxSendChars) }).catch(notifyError);
      }
    };
    const editor = new LineEditor();
    terminal.onData((data) => {
      if (!state.connected || state.replaying) return;
      if (!state.lineBuffered) return keys(data);
      const typed = editor.input(data);
      if (typed.echo !== "") terminal.write(typed.echo);
      if (typed.keys !== "") keys(typed.keys);
      const ending = ENDINGS[paneSettings(pane)?.lineEnding ?? "crlf"];
      for (const line of typed.lines) if (line + ending !== "") keys(line + ending);
    });
    terminal.attachCustomKeyEventHandler((event) => {
      if (event.key === "Escape" && event.shiftKey) {
        event.preventDefault();
        if (event.type === "keydown") {
          const next = element.closest("section")?.querySelector<HTMLElement>('[data-control$="view.terminal"]');
          next?.focus();
        }
        return false;
      }
      // Keys of the page with Alt stay the page's; those with Ctrl mean something to a device.
      return !(event.altKey && SHORTCUTS.some((s) => s.keys.startsWith("Alt+") && matches(s.keys, event)));
    });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    const resize = new ResizeObserver(() => {
      if (element.clientWidth > 0 && element.clientHeight > 0) fit.fit();
    });
    resize.observe(element);
    stops.push(() => resize.disconnect());
    return () => {
      raw.close();
      now.current = null;
      terminal.dispose();
      for (const stop of stops) stop();
    };
  }, [held, pane, channelRx]);

  useEffect(() => {
    if (!now.current) return;
    now.current.lineBuffered = lineBuffered;
    now.current.connected = connected;
    now.current.terminal.options.disableStdin = !connected;
  }, [lineBuffered, connected]);
  const cleared = paneSettings(pane)?.clearedSeq;
  const clearedKey = `${cleared?.rx ?? 0} ${cleared?.tx ?? 0}`;
  useEffect(() => {
    if (cleared) held.feed.clearThrough(cleared);
    if ((cleared?.rx ?? 0) + (cleared?.tx ?? 0) > 0) now.current?.terminal.reset();
  }, [clearedKey]);
  useSignalEffect(() => {
    dark.value, highContrast.value, accent.value;
    requestAnimationFrame(() => {
      if (now.current) now.current.terminal.options.theme = theme();
    });
  });

  handle.current = {
    copyText: () => {
      const terminal = now.current?.terminal;
      if (!terminal) return "";
      if (terminal.hasSelection()) return terminal.getSelection();
      const buffer = terminal.buffer.active;
      const lines: string[] = [];
      for (let i = 0; i < buffer.length; i++) lines.push(buffer.getLine(i)?.translateToString(true) ?? "");
      return lines.join("\n").trimEnd();
    },
    toEnd: () => now.current?.terminal.scrollToBottom(),
  };
  return (
    <div class="term" role="group" aria-label={t("terminal.of", { pane })} aria-description={t("terminal.keys")}>
      <div class="term-box" ref={box} />
      <span class="term-hint" aria-hidden="true">{t("terminal.leave")}</span>
    </div>
  );
}
