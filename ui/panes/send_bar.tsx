/** Sending: text or hex with its bytes shown before they go, history, paced pastes and files, progress and cancel. */
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { LIMITS } from "../../tools/limits.ts";
import { Button } from "../controls/button.tsx";
import { Select } from "../controls/field.tsx";
import { panePath, useControl } from "../controls/registry.ts";
import { run } from "../controls/run.ts";
import type { HexFault } from "../../src/core/hex_input.ts";
import { type Key, t } from "../i18n/mod.ts";
import { bytes as size, count, took } from "../lib/format.ts";
import { notify } from "../lib/notify.ts";
import { call, connection, online } from "../lib/server.ts";
import type { PaneSettings } from "../lib/store.ts";
import { hexPairs, pacedMs, type Preview, preview, Recall, textBytes } from "./send_model.ts";
import { offline, useFlow } from "./toolbar.tsx";

type Mode = "text" | "hex";

const FAULT_KEYS: Readonly<Record<HexFault, Key>> = {
  digit: "send.faultDigit",
  prefix: "send.faultPrefix",
  run: "send.faultRun",
};

export interface OwnSending {
  done: number;
  total: number;
  cancel: () => void;
}

/** A file that was chosen or dropped and waits for a yes. */
export type Offered = File | null;

export interface SendBarProps {
  pane: PaneSettings;
  offered: Offered;
  onOffer(file: Offered): void;
}

/** Why nothing can be sent to a pane that is not open. */
const whyNot = (pane: PaneSettings): string =>
  pane.status === "lost"
    ? t("why.lost")
    : pane.status === "opening"
    ? t("why.opening")
    : pane.port === ""
    ? t("why.noPort")
    : t("why.notOpen");

export function SendBar({ pane, offered, onOffer }: SendBarProps) {
  const name = pane.pane;
  const path = (id: string) => panePath(name, "send", id);
  const [mode, setMode] = useState<Mode>(pane.sendAs);
  const [text, setText] = useState("");
  const [own, setOwn] = useState<OwnSending | null>(null);
  const recall = useMemo(() => new Recall(), [name]);
  const previewId = useId();
  const file = useRef<HTMLInputElement>(null);
  // An agent that sends as hex changes what the pane sends as.
  useEffect(() => setMode(pane.sendAs), [pane.sendAs]);
  const why = offline() ?? (pane.isConnected ? null : whyNot(pane));
  const busy = own ? t("why.sending") : null;
  const look = preview(text, mode, pane.lineEnding);
  const reason = why ?? busy ??
    (look.kind === "bad"
      ? t("why.badHex")
      : look.kind === "empty" && (mode === "hex" || pane.lineEnding === "none")
      ? t("why.nothing")
      : null);

  const field = useControl({
    path: path("data"),
    kind: "text",
    label: t("send.data"),
    tool: "serial_send",
    disabledReason: why,
    description: t("send.dataHint"),
  });
  const area = () => field.current instanceof HTMLTextAreaElement ? field.current : undefined;
  useEffect(() => {
    const element = area();
    if (!element) return;
    element.style.height = "28px";
    const wanted = Math.min(128, element.scrollHeight + 2);
    element.style.height = `${Math.max(28, wanted)}px`;
    element.style.overflowY = element.scrollHeight + 2 > 128 ? "auto" : "hidden";
  }, [text]);

  const put = (value: string) => {
    setText(value);
    const element = area();
    if (!element) return;
    element.value = value;
    element.setSelectionRange(value.length, value.length);
  };

  /** Bytes with pacing, progress and cancel: a paste of several lines, or a file. */
  const stream = async (data: Blob, label: string): Promise<boolean> => {
    const control = new AbortController();
    setOwn({ done: 0, total: data.size, cancel: () => control.abort() });
    let done = 0;
    try {
      const { bytes } = await connection().sendFile({ pane: name, name: label, size: data.size }, data, {
        signal: control.signal,
        onProgress: (sent) => {
          done = sent;
          setOwn((now) => now && { ...now, done: sent });
        },
      });
      notify(t("send.sent", { n: bytes }));
      return true;
    } catch (error) {
      if (!control.signal.aborted) throw error;
      notify(t("send.cancelled", { n: done, total: data.size }));
      return false;
    } finally {
      setOwn(null);
    }
  };

  const send = async (bare: boolean): Promise<void> => {
    if (reason !== null && !(bare && text !== "" && why === null && busy === null && look.kind !== "bad")) return;
    // Taken at once: what is typed while it goes is the next one. It comes back when it did not go.
    put("");
    let gone = false;
    try {
      gone = await sendText(text, bare);
    } finally {
      if (gone && text !== "") recall.add(text);
      if (!gone && area()?.value === "") put(text);
    }
  };
  /** False: the person canceled it. */
  const sendText = async (text: string, bare: boolean): Promise<boolean> => {
    const ending = bare ? "none" : pane.lineEnding;
    const several = mode === "text" && look.kind === "bytes" && look.lines > 1;
    const paced = pane.pacing.charMs > 0 || pane.pacing.lineMs > 0;
    if (several && (paced || text.length > 2048) || text.length > LIMITS.maxSendChars) {
      return await stream(new Blob([textBytes(text, ending)]), t("send.pasteName"));
    }
    if (several) {
      const data = new TextDecoder().decode(textBytes(text, ending));
      await call("serial_send", { pane: name, data, mode, lineEnding: "none" });
    } else await call("serial_send", { pane: name, data: text, mode, lineEnding: ending });
    // The ending was part of the data, or left out this once; the pane keeps the one that the person chose.
    if ((several || bare) && pane.lineEnding !== "none") {
      await call("serial_set_display", { pane: name, lineEnding: pane.lineEnding });
    }
    return true;
  };
  const sendFile = async (chosen: File): Promise<void> => {
    onOffer(null);
    await stream(chosen, chosen.name);
  };

  const keyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const element = area();
    if (!element) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      run(path("send"), () => send(event.ctrlKey || event.metaKey));
      return;
    }
    if ((event.key === "ArrowUp" || event.key === "ArrowDown") && !event.shiftKey && !event.altKey && !event.ctrlKey) {
      const up = event.key === "ArrowUp";
      const edge = up
        ? element.value.lastIndexOf("\n", element.selectionStart - 1) === -1
        : element.value.indexOf("\n", element.selectionEnd) === -1;
      if (!edge) return;
      const found = recall.step(up ? 1 : -1, element.value);
      if (found === undefined) return;
      event.preventDefault();
      put(found);
    }
  };

  /** The pane's history belongs to everyone who sends: read when it is first wanted. */
  const focused = () => {
    if (why !== null || recall.items.length > 0) return;
    call("serial_get_history", { pane: name, limit: 50 }).then(({ output }) => recall.items = output.items, () => {});
  };

  return (
    <form
      class="send"
      aria-label={t("send.form", { pane: name })}
      onSubmit={(event) => event.preventDefault()}
    >
      {offered && (
        <Offer
          pane={pane}
          file={offered}
          why={why ?? busy}
          onSend={() => sendFile(offered)}
          onDrop={() => onOffer(null)}
        />
      )}
      <Sending own={own} pane={pane} />
      <div class="line">
        <Select
          path={path("mode")}
          label={t("send.mode")}
          value={mode}
          options={[{ value: "text", label: t("view.text") }, { value: "hex", label: t("view.hex") }]}
          disabledReason={why}
          onChange={(chosen) => setMode(chosen)}
        />
        <textarea
          ref={field as { current: HTMLTextAreaElement | null }}
          rows={1}
          aria-label={t("send.data")}
          aria-describedby={previewId}
          aria-invalid={look.kind === "bad" ? "true" : undefined}
          placeholder={why ?? (mode === "hex" ? t("send.hexPlaceholder") : t("send.placeholder"))}
          disabled={why !== null}
          value={text}
          autocomplete="off"
          spellcheck={false}
          maxLength={1_000_000}
          onFocus={focused}
          onInput={(event) => {
            recall.reset();
            setText(event.currentTarget.value);
          }}
          onKeyDown={keyDown}
        />
        <Button
          path={path("file")}
          label={t("send.file")}
          icon="file"
          look="quiet"
          disabledReason={why ?? busy}
          onClick={() => file.current?.click()}
        />
        <Button
          path={path("send")}
          label={t("send.send")}
          look="primary"
          class="go"
          tool="serial_send"
          disabledReason={reason}
          onClick={() => send(false)}
        >
          {t("send.send")}
        </Button>
      </div>
      <input
        ref={file}
        type="file"
        hidden
        tabIndex={-1}
        aria-label={t("send.file")}
        onChange={(event) => {
          const chosen = event.currentTarget.files?.[0];
          if (chosen) onOffer(chosen);
          event.currentTarget.value = "";
        }}
      />
      <PreviewLine id={previewId} look={look} mode={mode} pane={pane} enabled={why === null} />
    </form>
  );
}

function PreviewLine(
  { id, look, mode, pane, enabled }: { id: string; look: Preview; mode: Mode; pane: PaneSettings; enabled: boolean },
) {
  if (look.kind === "bad") {
    const from = Math.max(0, look.column - 13);
    return (
      <div class="preview bad" id={id} role="alert">
        <span>
          {t("send.badColumn", { column: look.column, error: t(FAULT_KEYS[look.fault], { what: look.what }) })}
        </span>
        <code>
          {from > 0 ? "…" : ""}
          {look.line.slice(from, look.column - 1)}
          <u>{look.line.slice(look.column - 1, look.column) || "␣"}</u>
          {look.line.slice(look.column, look.column + 12)}
        </code>
      </div>
    );
  }
  if (look.kind === "empty") {
    const onlyEnding = mode === "text" && pane.lineEnding !== "none";
    return (
      <div class="preview" id={id}>
        <span class="cut">
          {enabled
            ? onlyEnding ? t("send.hintEnding", { ending: pane.lineEnding.toUpperCase() }) : t("send.hint")
            // The field itself says what else there is to say.
            : online.value && pane.status === "closed" && pane.port !== ""
            ? t("send.hintClosed")
            : ""}
        </span>
      </div>
    );
  }
  const ms = pacedMs(look.bytes.length, look.lines, pane.pacing, pane.actualBaud ?? pane.baud);
  const ending = mode === "text" && pane.lineEnding !== "none"
    ? t("send.withEnding", { ending: pane.lineEnding.toUpperCase() })
    : "";
  return (
    <div class="preview" id={id}>
      <span class="num">
        {look.lines > 1 ? `${t("send.lines", { n: look.lines })}${t("join.comma")}` : ""}
        {t("send.bytes", { n: look.bytes.length })}
        {ending}
        {ms >= 1000 ? `${t("join.comma")}${t("send.takes", { span: took(ms) })}` : ""}
      </span>
      <code class="cut bytes">{hexPairs(look.bytes, 48)}</code>
    </div>
  );
}

/** A dropped file is only offered: nothing goes to a device before a yes. */
function Offer(
  props: { pane: PaneSettings; file: File; why: string | null; onSend: () => Promise<void>; onDrop: () => void },
) {
  const { pane, file } = props;
  const path = (id: string) => panePath(pane.pane, "send", id);
  const ms = pacedMs(file.size, 0, pane.pacing, pane.actualBaud ?? pane.baud);
  return (
    <div class="progress" role="group" aria-label={t("send.offer")}>
      <span class="grow break">
        <b>{file.name}</b>
        {[``, size(file.size), t("send.bytes", { n: file.size }), t("send.takes", { span: took(ms) })].join(
          t("join.comma"),
        )}
      </span>
      <Button
        path={path("sendFile")}
        label={t("send.sendFile")}
        look="primary"
        disabledReason={props.why}
        onClick={props.onSend}
      >
        {t("send.sendFile")}
      </Button>
      <Button path={path("dropFile")} label={t("send.dropFile")} look="quiet" onClick={props.onDrop}>
        {t("send.dropFile")}
      </Button>
    </div>
  );
}

/** How far a paced text or a file is: of this page with a cancel, of another caller without. */
function Sending({ own, pane }: { own: OwnSending | null; pane: PaneSettings }) {
  const flow = useFlow(pane.pane);
  const now = own ?? flow?.sending ?? null;
  if (!now) return null;
  const done = Math.max(now.done, flow?.sending?.done ?? 0);
  return (
    <div class="progress">
      <span class="num">{t("send.progress", { done: count(Math.min(done, now.total)), total: count(now.total) })}</span>
      <progress max={Math.max(1, now.total)} value={done} aria-label={t("send.progressOf", { pane: pane.pane })} />
      {own && (
        <Button path={panePath(pane.pane, "send", "cancel")} label={t("send.cancel")} onClick={own.cancel}>
          {t("send.cancel")}
        </Button>
      )}
    </div>
  );
}
