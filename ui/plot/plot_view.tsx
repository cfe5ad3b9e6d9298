/** Numbers of a pane drawn as they come. Loaded when it is first shown; it looks at samples and draws when there is time. */
import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { Button } from "../controls/button.tsx";
import { panePath, pathPart } from "../controls/registry.ts";
import { t } from "../i18n/mod.ts";
import { timeOfDay } from "../lib/format.ts";
import type { LineFeed } from "../lib/ring_client.ts";
import { accent, dark, highContrast } from "../lib/settings.ts";
import { CHAN } from "../log/line_store.ts";
import { textRow } from "../log/row_text.ts";
import { PlotData } from "./series.ts";

export interface PlotProps {
  pane: string;
  feed: LineFeed;
  /** A line that the person chose: the plot starts anew with its kind of numbers. */
  line: { text: string } | null;
  timeOf(t: number): number;
  onClose(): void;
}

const DRAW_MS = 100;
/** Lines from before the plot was opened that are drawn too. */
const BACKLOG = 2000;
const HEIGHT = 168;
const COLOURS = ["--accent", "--tx", "--warn", "--ai", "--ok", "--err", "--soft", "--text"] as const;

const token = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Times of the axis as the log shows them, with thousandths only when they are needed. */
function clock(seconds: readonly number[]): string[] {
  const whole = seconds.every((s) => Number.isInteger(s));
  return seconds.map((s) => timeOfDay(s * 1000).slice(0, whole ? 8 : 12));
}

function make(box: HTMLElement, names: readonly string[], hidden: ReadonlySet<string>): uPlot {
  const grid = { stroke: token("--line"), width: 1 };
  const axis = { stroke: token("--soft"), font: "11px ui-monospace, monospace", grid, ticks: { ...grid, size: 4 } };
  return new uPlot(
    {
      width: Math.max(120, box.clientWidth),
      height: HEIGHT,
      legend: { show: false },
      cursor: { drag: { x: true, y: false }, points: { size: 6 } },
      scales: { x: { time: true } },
      axes: [{ ...axis, space: 84, size: 28, values: (_, splits) => clock(splits) }, { ...axis, size: 56 }],
      series: [
        {},
        ...names.map((label, i) => ({
          label,
          stroke: token(COLOURS[i % COLOURS.length] ?? "--accent"),
          width: 1.5,
          spanGaps: true,
          show: !hidden.has(label),
          points: { show: false },
        })),
      ],
    },
    [[]],
    box,
  );
}

export function PlotView({ pane, feed, line, timeOf, onClose }: PlotProps) {
  const data = useMemo(() => new PlotData(), [feed]);
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const [names, setNames] = useState<readonly string[]>([]);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [values, setValues] = useState<readonly (number | null)[]>([]);
  const [paused, setPaused] = useState(false);
  const [look, setLook] = useState(0);
  const held = useRef({ paused });
  held.current.paused = paused;
  const path = (id: string) => panePath(pane, "plot", id);

  // What is there already, and then what comes.
  useEffect(() => {
    if (line) data.choose(line.text);
    const { store } = feed;
    for (let row = Math.max(store.firstRow, store.endRow - BACKLOG); row < store.endRow; row++) {
      const one = store.line(row);
      if (one?.chan === CHAN.rx) data.add(one.wall, textRow(one.bytes, one.flags).text);
    }
    return feed.onRecords((records, chan) => {
      if (held.current.paused || chan !== CHAN.rx) return;
      for (const record of records) {
        const wall = timeOf(record.t);
        if (data.wants(wall)) data.add(wall, textRow(record.bytes, record.flags).text);
      }
    });
  }, [feed, data, line]);

  useEffect(() => {
    let drawn = -1;
    const draw = () => {
      if (drawn === data.version) return;
      drawn = data.version;
      const now = [...data.series.keys()];
      setNames((before) => before.join("\n") === now.join("\n") ? before : now);
      setValues([...data.series.values()].map((points) => points.findLast((p) => p !== null) ?? null));
      const plot = chart.current;
      if (plot && plot.series.length === now.length + 1) plot.setData([data.time, ...data.series.values()]);
    };
    draw();
    const timer = setInterval(draw, DRAW_MS);
    return () => clearInterval(timer);
  }, [data, names]);

  useSignalEffect(() => {
    dark.value, highContrast.value, accent.value;
    setLook((n) => n + 1);
  });
  useEffect(() => {
    const element = box.current;
    if (!element || names.length === 0) return;
    const plot = make(element, names, hidden);
    chart.current = plot;
    plot.setData([data.time, ...data.series.values()]);
    const resize = new ResizeObserver(() => {
      if (element.clientWidth > 0) plot.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
      chart.current = null;
    };
  }, [names, look, data]);
  useEffect(() => {
    names.forEach((name, i) => chart.current?.setSeries(i + 1, { show: !hidden.has(name) }));
  }, [hidden]);

  const toggle = (name: string) => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
  };
  return (
    <section class="plot" aria-label={t("plot.title", { pane })}>
      <div class="plot-head">
        <div class="plot-series" role="group" aria-label={t("plot.series")}>
          {names.map((name, i) => (
            <Button
              key={name}
              path={path(`series-${pathPart(name)}-${i}`)}
              label={name}
              look="quiet"
              pressed={!hidden.has(name)}
              onClick={() => toggle(name)}
            >
              <i class="swatch" style={{ background: `var(${COLOURS[i % COLOURS.length]})` }} />
              <span class="cut">{name}</span>
              <span class="num">{values[i] ?? ""}</span>
            </Button>
          ))}
          {data.every > 1 && <span class="soft">{t("plot.sampled", { n: data.every })}</span>}
        </div>
        <Button
          path={path("pause")}
          label={paused ? t("plot.resume") : t("plot.pause")}
          icon={paused ? "play" : "pause"}
          look="quiet"
          onClick={() => setPaused(!paused)}
        />
        <Button
          path={path("clear")}
          label={t("plot.clear")}
          icon="clear"
          look="quiet"
          onClick={() => data.clear()}
        />
        <Button path={path("close")} label={t("plot.close")} icon="close" look="quiet" onClick={onClose} />
      </div>
      {names.length === 0
        ? (
          <div class="plot-none">
            <b>{t("plot.empty")}</b>
            <span>{t("plot.hint")}</span>
          </div>
        )
        : <div class="plot-box" ref={box} aria-hidden="true" />}
    </section>
  );
}
