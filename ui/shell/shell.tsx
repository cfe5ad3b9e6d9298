/** The frame that every workspace shares: top bar, left and right columns, foot, and what floats. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Toasts, Tooltip } from "../controls/overlay.tsx";
import { t } from "../i18n/mod.ts";
import { bytes } from "../lib/format.ts";
import { connection } from "../lib/server.ts";
import { currentPane, layout, setLayout, tourDone } from "../lib/settings.ts";
import { paneSettings, ready, server } from "../lib/store.ts";
import { useFlow } from "../panes/toolbar.tsx";
import { stateText } from "../panes/status.tsx";
import { Rail } from "./rail.tsx";
import { ShortcutSheet } from "./shortcut_sheet.tsx";
import { Side } from "./side.tsx";
import { GoneBanner, PausedBanner, TopBar } from "./top_bar.tsx";
import { Tour } from "./tour.tsx";

/** What the current pane has moved, and where the server listens. */
function Foot() {
  const name = currentPane.value;
  const pane = paneSettings(name);
  const flow = useFlow(name);
  const view = server.value;
  return (
    <footer class="foot">
      {pane && flow && (
        <>
          <span>{pane.label || name}: {stateText(pane)}</span>
          <span class="num">{t("count.in", { n: flow.counters.rxLines, size: bytes(flow.counters.rxBytes) })}</span>
          <span class="num">{t("count.out", { n: flow.counters.txLines, size: bytes(flow.counters.txBytes) })}</span>
        </>
      )}
      <span class="grow" />
      <span class="num">{typeof location === "undefined" ? "" : location.host}</span>
      {view && <span class="num">{view.version}</span>}
    </footer>
  );
}

export function Shell({ children }: { children: ComponentChildren }) {
  const [sheet, setSheet] = useState(false);
  const { rail, side } = layout.value;
  return (
    <div class={`shell${rail ? "" : " no-rail"}${side ? "" : " no-side"}`}>
      <TopBar onSheet={() => setSheet(true)} />
      <div style={{ gridArea: "ban" }}>
        <GoneBanner onRetry={() => connection().connect()} />
        <PausedBanner />
      </div>
      {rail && <Rail />}
      {children}
      {side && <Side />}
      <Foot />
      {ready.value && !tourDone.value && <Tour />}
      {sheet && <ShortcutSheet onClose={() => setSheet(false)} />}
      <Toasts />
      <Tooltip />
    </div>
  );
}

/** Closes the drawers on a narrow page. */
export function closeDrawers(): void {
  if (innerWidth < 1200 && layout.peek().side) setLayout({ side: false });
  if (innerWidth < 900 && layout.peek().rail) setLayout({ rail: false });
}
