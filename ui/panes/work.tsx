/** The panes side by side, with dividers that can be dragged or moved with the arrow keys. */
import { Fragment } from "preact";
import { useRef } from "preact/hooks";
import { useControl } from "../controls/registry.ts";
import { t } from "../i18n/mod.ts";
import { act } from "../lib/server.ts";
import { currentPane, layout, setLayout } from "../lib/settings.ts";
import { paneNames } from "../lib/store.ts";
import { Pane } from "./pane.tsx";

export function Work() {
  const names = paneNames.value;
  return (
    <main class="work" id="work" aria-label={t("work.title")}>
      {names.map((name, i) => {
        const before = names[i - 1];
        return (
          <Fragment key={name}>
            {before !== undefined && <Divider left={before} right={name} />}
            <Pane name={name} only={names.length === 1} />
          </Fragment>
        );
      })}
    </main>
  );
}

/** Brings a pane to the front: into view, marked as current. False when there is none of this name. */
export function showPane(name: string): boolean {
  if (!paneNames.peek().includes(name)) return false;
  const element = document.getElementById(`pane-${name}`);
  if (!element) return false;
  element.scrollIntoView?.({ inline: "nearest", block: "nearest" });
  if (currentPane.peek() === name) return true;
  currentPane.value = name;
  element.dataset.shown = "";
  setTimeout(() => delete element.dataset.shown, 1200);
  return true;
}

/** Adds a pane and goes to it as soon as it is there. */
export async function addPane(): Promise<void> {
  const { pane } = await act("pane.add", {});
  for (let i = 0; i < 50 && !showPane(pane); i++) await new Promise((resolve) => setTimeout(resolve, 40));
}

const weightOf = (name: string): number => layout.peek().weights[name] ?? 1;
const widthOf = (name: string): number => document.getElementById(`pane-${name}`)?.getBoundingClientRect().width ?? 0;
const LEAST_SHARE = 0.2;

function Divider({ left, right }: { left: string; right: string }) {
  const drag = useRef<{ x: number; share: number; width: number } | null>(null);
  const sum = (layout.value.weights[left] ?? 1) + (layout.value.weights[right] ?? 1);
  const share = (layout.value.weights[left] ?? 1) / sum;
  const now = Math.round(share * 100);
  const ref = useControl({
    path: `serial.layout.split-${right}`,
    kind: "range",
    label: t("work.divider", { left, right }),
    min: 20,
    max: 80,
    personOnly: true,
  });
  const setShare = (wanted: number) => {
    const next = Math.max(LEAST_SHARE, Math.min(1 - LEAST_SHARE, wanted));
    const total = weightOf(left) + weightOf(right);
    setLayout({ weights: { ...layout.peek().weights, [left]: total * next, [right]: total * (1 - next) } });
  };
  return (
    <div
      class="divider"
      role="separator"
      tabIndex={0}
      ref={ref as { current: HTMLDivElement | null }}
      aria-orientation="vertical"
      aria-label={t("work.divider", { left, right })}
      aria-valuenow={now}
      aria-valuemin={20}
      aria-valuemax={80}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { x: event.clientX, share, width: widthOf(left) + widthOf(right) };
      }}
      onPointerMove={(event) => {
        const from = drag.current;
        if (from && from.width > 0) setShare(from.share + (event.clientX - from.x) / from.width);
      }}
      onPointerUp={() => drag.current = null}
      onPointerCancel={() => drag.current = null}
      onDblClick={() => setShare(0.5)}
      onKeyDown={(event) => {
        const step = event.key === "ArrowLeft" ? -0.02 : event.key === "ArrowRight" ? 0.02 : 0;
        if (step === 0) return;
        event.preventDefault();
        setShare(share + step);
      }}
    />
  );
}
