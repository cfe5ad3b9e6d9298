/** A plain stand-in for the terminal: keys go out as they are typed, what comes in is shown as text. */
import { useRef } from "preact/hooks";
import { t } from "../i18n/mod.ts";
import { notifyError } from "../lib/notify.ts";
import { act } from "../lib/server.ts";
import { LogView } from "../log/log_view.tsx";
import type { TerminalProps } from "../panes/log_seam.ts";
import { paneSettings } from "../lib/store.ts";

export function TerminalView({ pane, channelRx, connected, handle }: TerminalProps) {
  const cleared = paneSettings(pane)?.clearedSeq ?? { rx: 0, tx: 0 };
  const box = useRef<HTMLDivElement>(null);
  return (
    <div
      ref={box}
      role="application"
      aria-label={t("terminal.of", { pane })}
      tabIndex={0}
      style={{ display: "grid", minHeight: 0, gridRow: 2 }}
      onKeyDown={(event) => {
        if (!connected || event.altKey || event.ctrlKey || event.metaKey) return;
        const data = event.key === "Enter"
          ? "\r"
          : event.key === "Backspace"
          ? "\b"
          : event.key.length === 1
          ? event.key
          : "";
        if (data === "") return;
        event.preventDefault();
        act("pane.keys", { pane, data }).catch(notifyError);
      }}
    >
      <LogView
        pane={pane}
        channelRx={channelRx}
        channelTx={null}
        view="text"
        follow
        onFollow={() => {}}
        lineNumbers={false}
        timestamps={false}
        echo={false}
        cleared={cleared}
        handle={handle}
      />
    </div>
  );
}
