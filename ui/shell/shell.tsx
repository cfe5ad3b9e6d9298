/** The frame that every workspace shares: top bar, left and right columns, foot, and what floats. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { FloatingAsks } from "../agents/agents_panel.tsx";
import { Toasts, Tooltip } from "../controls/overlay.tsx";
import { t } from "../i18n/mod.ts";
import { bytes } from "../lib/format.ts";
import { connection } from "../lib/server.ts";
import { layout, setLayout, tourDone } from "../lib/settings.ts";
import { channels, ready, server } from "../lib/store.ts";
import { Rail } from "./rail.tsx";
import { ShortcutSheet } from "./shortcut_sheet.tsx";
import { Side } from "./side.tsx";
import { GoneBanner, OutdatedBanner, PausedBanner, TopBar } from "./top_bar.tsx";
import { Tour } from "./tour.tsx";

/** What the log holds altogether, where the server listens, and which version it is. */
function Foot() {
  const view = server.value;
  const all = channels.value;
  const sum = (part: (channel: (typeof all)[number]) => number) => all.reduce((n, one) => n + part(one), 0);
  return (
    <footer class="foot">
      <span class="num">{t("foot.held", { n: sum((c) => c.lines), size: bytes(sum((c) => c.bytes)) })}</span>
      <span class="num">{t("count.dropped", { n: sum((c) => c.dropped) })}</span>
      <span class="grow" />
      <span class="keys-hint">{t("foot.keys")}</span>
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
        <OutdatedBanner />
        <PausedBanner />
      </div>
      {rail && <Rail />}
      {children}
      {side && <Side />}
      <Foot />
      {ready.value && !tourDone.value && <Tour />}
      {sheet && <ShortcutSheet onClose={() => setSheet(false)} />}
      <FloatingAsks />
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
