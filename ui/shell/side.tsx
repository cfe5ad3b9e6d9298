/** The right column: who else is working, all logs, how to connect. Below 1200 px it is a drawer. */
import { useRef } from "preact/hooks";
import { AgentsPanel } from "../agents/agents_panel.tsx";
import { ConnectPanel } from "../connect/connect_panel.tsx";
import { Button } from "../controls/button.tsx";
import { useControl } from "../controls/registry.ts";
import { type Key, t } from "../i18n/mod.ts";
import { layout, setLayout, SIDE_TABS, type SideTab } from "../lib/settings.ts";
import { keysOf } from "../lib/shortcuts.ts";
import { LogCentre } from "../log_centre/log_centre.tsx";

const TAB_KEYS: Readonly<Record<SideTab, Key>> = { agents: "side.agents", logs: "side.logs", connect: "side.connect" };
const TAB_SHORTCUTS: Readonly<Record<SideTab, string>> = {
  agents: keysOf("agents"),
  logs: keysOf("logs"),
  connect: keysOf("connect"),
};

function Tab({ tab }: { tab: SideTab }) {
  const on = layout.value.tab === tab;
  const label = t(TAB_KEYS[tab]);
  const ref = useControl({ path: `global.side.${tab}`, kind: "toggle", label });
  return (
    <button
      type="button"
      role="tab"
      id={`tab-${tab}`}
      ref={ref as { current: HTMLButtonElement | null }}
      aria-selected={on ? "true" : "false"}
      aria-controls="side-panel"
      tabIndex={on ? 0 : -1}
      data-tip={label}
      data-keys={TAB_SHORTCUTS[tab]}
      onClick={() => setLayout({ side: true, tab })}
    >
      {label}
    </button>
  );
}

export function Side() {
  const bar = useRef<HTMLDivElement>(null);
  const tab = layout.value.tab;
  return (
    <aside class="side" id="side" aria-label={t("side.title")}>
      <div class="tabs">
        <div
          role="tablist"
          aria-label={t("side.title")}
          class="grow"
          style={{ display: "flex", gap: "2px" }}
          ref={bar}
          onKeyDown={(event) => {
            const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
            if (step === 0) return;
            const at = (SIDE_TABS.indexOf(tab) + step + SIDE_TABS.length) % SIDE_TABS.length;
            const next = SIDE_TABS[at];
            if (!next) return;
            setLayout({ tab: next });
            bar.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
          }}
        >
          {SIDE_TABS.map((one) => <Tab key={one} tab={one} />)}
        </div>
        <Button
          path="global.side.close"
          label={t("side.close")}
          icon="close"
          look="quiet"
          onClick={() => setLayout({ side: false })}
        />
      </div>
      <div class="panel" role="tabpanel" id="side-panel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {tab === "agents" ? <AgentsPanel /> : tab === "logs" ? <LogCentre /> : <ConnectPanel />}
      </div>
    </aside>
  );
}
