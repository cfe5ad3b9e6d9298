/** One serial pane: what it is connected to, its log or terminal, and the send bar. */
import type { ComponentType } from "preact";
import { computed } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { t } from "../i18n/mod.ts";
import { notifyError } from "../lib/notify.ts";
import { currentPane, layout } from "../lib/settings.ts";
import { paneSettings, paneView, server } from "../lib/store.ts";
import { LogView } from "../log/log_view.tsx";
import { setDisplay } from "./actions.ts";
import { AdvancedBar } from "./advanced_bar.tsx";
import type { LogHandle, TerminalProps } from "./log_seam.ts";
import { type Offered, SendBar } from "./send_bar.tsx";
import { EmptyState, Notice, StatusLine } from "./status.tsx";
import { ConnectionBar, ToolRow } from "./toolbar.tsx";

/** Shows that there is nothing yet only while nothing was ever received or sent. */
function useEmpty(name: string): boolean {
  return useMemo(() =>
    computed(() => {
      const counters = paneView(name)?.counters;
      return counters === undefined || counters.rxBytes + counters.txBytes === 0;
    }), [name]).value;
}

export function Pane({ name, only }: { name: string; only: boolean }) {
  const pane = paneSettings(name);
  const handle = useRef<LogHandle | null>(null);
  const [offered, setOffered] = useState<Offered>(null);
  const [over, setOver] = useState(0);
  const [Terminal, setTerminal] = useState<ComponentType<TerminalProps> | null>(null);
  const terminal = pane?.terminalMode === true;
  const nothing = useEmpty(name);
  // An open terminal is there to be typed into, also before the device has said anything.
  const empty = nothing && !(terminal && pane?.isConnected);
  useEffect(() => {
    if (!terminal || Terminal) return;
    import("../terminal/terminal_view.tsx").then((m) => setTerminal(() => m.TerminalView), notifyError);
  }, [terminal, Terminal]);
  if (!pane) return null;
  const weight = layout.value.weights[name] ?? 1;
  const view = pane.viewMode === "hex" ? "hex" : layout.value.both.includes(name) ? "both" : "text";
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  return (
    <section
      class="pane"
      id={`pane-${name}`}
      data-pane={name}
      data-current={currentPane.value === name ? "" : undefined}
      aria-label={t("pane.region", { pane: pane.label || name })}
      style={{ flexGrow: String(weight) }}
      onFocusCapture={() => currentPane.value = name}
      onPointerDownCapture={() => currentPane.value = name}
      onDragEnter={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver((n) => n + 1);
      }}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDragLeave={() => setOver((n) => Math.max(0, n - 1))}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(0);
        const file = event.dataTransfer?.files[0];
        if (file) setOffered(file);
      }}
    >
      <ConnectionBar pane={pane} only={only} />
      <ToolRow pane={pane} handle={handle} />
      {pane.advOpen && <AdvancedBar pane={pane} folder={server.value?.logFolder ?? ""} />}
      <div class="body">
        <Notice pane={pane} />
        {empty ? <EmptyState pane={pane} /> : terminal && Terminal
          ? (
            <Terminal
              pane={name}
              channelRx={pane.logChannels.rx}
              lineBuffered={pane.lineBuf}
              connected={pane.isConnected}
              handle={handle}
            />
          )
          : (
            <LogView
              pane={name}
              channelRx={pane.logChannels.rx}
              channelTx={pane.logChannels.tx}
              view={view}
              follow={pane.autoScroll}
              onFollow={(on) => {
                if (on !== pane.autoScroll) setDisplay(name, { autoScroll: on }).catch(notifyError);
              }}
              lineNumbers={pane.lineNum}
              timestamps={pane.timestamp}
              echo={pane.echo}
              cleared={pane.clearedSeq}
              handle={handle}
            />
          )}
      </div>
      <StatusLine pane={pane} />
      <SendBar pane={pane} offered={offered} onOffer={setOffered} />
      {over > 0 && (
        <div class="drop" aria-hidden="true">
          <b>{t("send.dropHere", { pane: pane.label || name })}</b>
          <span class="soft">{t("send.dropHint")}</span>
        </div>
      )}
    </section>
  );
}
