/** A plain list in place of the log view: the newest lines of a pane. */
import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { directionOf, FLAG, sourceOf } from "../../src/core/line.ts";
import { WIRE_PARTIAL, type WireRecord } from "../../src/core/page_protocol.ts";
import { t } from "../i18n/mod.ts";
import { timeOfDay } from "../lib/format.ts";
import { connection } from "../lib/server.ts";
import { wallOf } from "../lib/store.ts";
import type { LogViewProps } from "../panes/log_seam.ts";
import { TextField } from "../controls/field.tsx";
import { panePath } from "../controls/registry.ts";

interface Line extends WireRecord {
  channel: string;
}

const KEEP = 500;
const decoder = new TextDecoder();
const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (b) => b.toString(16).padStart(2, "0").toUpperCase()).join(" ");

export function LogView(props: LogViewProps) {
  const { pane, channelRx, channelTx, view, follow, onFollow, handle } = props;
  const lines = useMemo(() => signal<readonly Line[]>([]), [channelRx, channelTx]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const link = connection();
    const ids = new Map<number, string>();
    const wanted = [channelRx, ...(channelTx ? [channelTx] : [])];
    const want = () => {
      lines.value = [];
      for (const channel of wanted) link.want(channel, 1);
    };
    const stops = [
      link.on("hello", want),
      link.on("following", (m) => {
        if (wanted.includes(m.channel)) ids.set(m.channelId, m.channel);
      }),
      link.onFrame((frame) => {
        const channel = ids.get(frame.channelId);
        if (!channel) return;
        const seen = lines.peek().filter((l) =>
          l.channel !== channel || (l.seq < frame.firstSeq && !(l.flags & WIRE_PARTIAL))
        );
        const fresh = frame.records.slice(-KEEP).map((r) => ({ ...r, channel }));
        lines.value = [...seen, ...fresh].sort((a, b) => a.t - b.t).slice(-KEEP);
      }),
    ];
    want();
    return () => {
      for (const stop of stops) stop();
      for (const channel of wanted) link.unwant(channel);
    };
  }, [channelRx, channelTx]);
  const shown = lines.value.filter((l) =>
    l.channel === channelTx ? props.echo && l.seq > props.cleared.tx : l.seq > props.cleared.rx
  );
  useEffect(() => {
    if (follow && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [shown.length, follow]);
  const textOf = (l: Line) => view === "hex" || l.flags & FLAG.frame ? hex(l.bytes) : decoder.decode(l.bytes);
  handle.current = {
    copyText: () => shown.map(textOf).join("\n"),
    toEnd: () => onFollow(true),
  };
  return (
    <div class="plain-log" role="log" aria-label={t("log.of", { pane })} tabIndex={0} ref={box}>
      {shown.map((l) => {
        const tx = directionOf(l.flags) === "tx";
        const src = sourceOf(l.flags);
        return (
          <div key={`${l.channel} ${l.seq}`} class={`row${tx ? " tx" : ""}`}>
            <time>{props.timestamps ? timeOfDay(wallOf(l.t)) : ""}</time>
            <i>{tx ? "›" : "‹"}</i>
            <span>{textOf(l)}{view === "both" ? `   ${hex(l.bytes)}` : ""}</span>
            <span class={`by ${src}`}>{src === "none" ? "" : src === "ai" ? t("log.agent") : t("log.you")}</span>
          </div>
        );
      })}
    </div>
  );
}

export function LogFind({ pane }: { pane: string }) {
  return (
    <TextField
      path={panePath(pane, "log", "find")}
      label={t("log.find")}
      placeholder={t("log.find")}
      type="search"
      value=""
    />
  );
}
