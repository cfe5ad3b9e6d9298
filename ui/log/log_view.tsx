/** The log of a pane, or of one channel: see `surface.ts` for how it is drawn. */
import type { ComponentType } from "preact";
import { effect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../controls/button.tsx";
import { panePath, pathPart } from "../controls/registry.ts";
import { language, t } from "../i18n/mod.ts";
import { notifyError } from "../lib/notify.ts";
import { type LineFeed, takeFeed } from "../lib/ring_client.ts";
import { connection, online } from "../lib/server.ts";
import { accent, dark, highContrast } from "../lib/settings.ts";
import { channels, ready, wallOf } from "../lib/store.ts";
import { copy } from "../panes/actions.ts";
import type { LogViewProps } from "../panes/log_seam.ts";
import type { PlotProps } from "../plot/plot_view.tsx";
import { announce } from "./announce.ts";
import { useKeys } from "./keys.ts";
import { CHAN } from "./line_store.ts";
import { LineMenu, type MenuPlace } from "./line_menu.tsx";
import { isFiltered, logModel } from "./log_model.ts";
import { NO_FILTER } from "./match.ts";
import { watchPointer } from "./pointer.ts";
import { textRow } from "./row_text.ts";
import { LogSurface, type SurfaceState } from "./surface.ts";

export { LogFind } from "./log_find.tsx";

const NOTHING: SurfaceState = { following: true, below: 0, rows: 0, found: 0, foundAt: 0, searching: false };
/** An expression is looked for again this long after it changed, or while lines come in. */
const REGEX_MS = 400;

/** The feed of a view for as long as it is on the page. */
function useFeed(channelRx: string, channelTx: string | null, pane: string): LineFeed {
  const key = `${channelRx}\n${channelTx ?? ""}`;
  const held = useMemo(
    () =>
      takeFeed(
        connection(),
        { rx: channelRx, tx: channelTx, pane: channelTx === null ? null : pane },
        ready.peek() ? wallOf(0) : undefined,
      ),
    [key],
  );
  useEffect(() => held.release, [held]);
  return held.feed;
}

export function LogView(props: LogViewProps) {
  const { pane, channelRx, channelTx, view, follow, onFollow, handle } = props;
  const bare = channelTx === null;
  const model = logModel(pane);
  const path = (id: string) => bare ? `global.logs.${id}-${pathPart(channelRx)}` : panePath(pane, "log", id);
  const feed = useFeed(channelRx, channelTx, pane);
  const box = useRef<HTMLDivElement>(null);
  const sizer = useRef<HTMLDivElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  const live = useRef<HTMLDivElement>(null);
  const [surface, setSurface] = useState<LogSurface | null>(null);
  const [state, setState] = useState(NOTHING);
  const [menu, setMenu] = useState<MenuPlace | null>(null);
  const [Plot, setPlot] = useState<ComponentType<PlotProps> | null>(null);
  const [plotLine, setPlotLine] = useState<{ text: string } | null>(null);
  const latest = useRef({ onFollow });
  latest.current = { onFollow };

  useEffect(() => {
    const elements = { box: box.current, sizer: sizer.current, layer: layer.current };
    if (!elements.box || !elements.sizer || !elements.layer) return;
    const made = new LogSurface(feed, { box: elements.box, sizer: elements.sizer, layer: elements.layer }, {
      state: setState,
      follow: (on) => {
        // While the server is gone it cannot be told, and the view still obeys.
        if (online.peek()) latest.current.onFollow(on);
      },
    });
    setSurface(made);
    const stops = [
      watchPointer(made, elements.box, (x, y, row) => setMenu({ x, y, row })),
      effect(() => {
        language.value, dark.value, highContrast.value, accent.value;
        made.repaint();
      }),
      live.current ? announce(feed, made, elements.box, live.current) : () => {},
    ];
    model.step = (by) => made.step(by);
    model.focusLog = () => elements.box?.focus();
    return () => {
      for (const stop of stops) stop();
      made.close();
      model.step = model.focusLog = undefined;
      setSurface(null);
    };
  }, [feed]);

  const { lineNumbers, timestamps, echo } = props;
  const filter = bare ? NO_FILTER : model.filter.value;
  const timeMode = bare ? "absolute" : model.timeMode.value;
  useEffect(() => {
    surface?.set({ view, lineNumbers, timestamps, timeMode, echo: echo || bare, filter });
  }, [surface, view, lineNumbers, timestamps, timeMode, echo, filter]);
  // Only a change from outside moves the view: what the person did here is told with a delay and comes back.
  useEffect(() => surface?.follow(follow), [surface, follow]);
  useEffect(() => feed.clearThrough(props.cleared), [feed, props.cleared.rx, props.cleared.tx]);
  useCleared(feed, channelRx, channelTx);
  useSearch(surface, feed, pane, bare ? [] : [channelRx, ...(channelTx === null ? [] : [channelTx])]);
  useEffect(() => {
    if (!bare) model.found.value = { count: state.found, at: state.foundAt, busy: state.searching };
  }, [state.found, state.foundAt, state.searching]);
  const onKeyDown = useKeys(surface, box, setMenu);

  handle.current = {
    copyText: () => surface?.copyText() ?? "",
    toEnd: () => surface?.wantFollow(true),
  };

  const plotOn = !bare && model.plot.value;
  useEffect(() => {
    if (plotOn && !Plot) import("../plot/plot_view.tsx").then((m) => setPlot(() => m.PlotView), notifyError);
  }, [plotOn, Plot]);

  return (
    <div class="logv" data-view={view} data-times={timestamps ? timeMode : "none"} data-nums={lineNumbers || undefined}>
      <div class="log-frame">
        <div
          class="log-box"
          role="log"
          aria-live="off"
          aria-label={t("log.of", { pane })}
          aria-description={t("log.keys")}
          tabIndex={0}
          ref={box}
          onKeyDown={onKeyDown}
          onCopy={(event) => {
            const text = surface?.copyText(true) ?? "";
            if (text === "") {
              return;
            }
            event.preventDefault();
            event.clipboardData?.setData("text/plain", text);
          }}
        >
          <div class="log-sizer" ref={sizer}>
            <div class="log-layer" ref={layer} />
          </div>
        </div>
        {state.rows === 0 && (
          <div class="log-none">
            <span>{isFiltered(filter) ? t("log.noMatch") : t("log.empty")}</span>
            {isFiltered(filter) && (
              <Button
                path={path("showAll")}
                label={t("log.showAll")}
                onClick={() => model.filter.value = NO_FILTER}
              >
                {t("log.showAll")}
              </Button>
            )}
          </div>
        )}
        {!state.following && state.rows > 0 && (
          <Button
            path={path("toEnd")}
            label={t("log.toEnd")}
            icon="follow"
            class="to-end"
            keys="End"
            onClick={() => surface?.wantFollow(true)}
          >
            {t("log.toEnd")}
            {state.below > 0 && <span class="num">{t("log.below", { n: state.below })}</span>}
          </Button>
        )}
      </div>
      {plotOn && Plot && (
        <Plot
          pane={pane}
          feed={feed}
          line={plotLine}
          timeOf={wallOf}
          onClose={() => model.plot.value = false}
        />
      )}
      {menu && surface && (
        <LineMenu
          place={menu}
          path={path}
          line={surface.lineText(menu.row)?.text ?? ""}
          selection={surface.copyText(true)}
          onClose={() => {
            setMenu(null);
            box.current?.focus();
          }}
          onCopy={(text) => copy(text)}
          onFind={bare ? undefined : (text) => {
            model.regex.value = false;
            model.pattern.value = text;
          }}
          onOnly={bare ? undefined : (text) =>
            model.filter.value = { ...model.filter.peek(), text }}
          onPlot={bare ? undefined : () => {
            const line = feed.store.line(menu.row);
            if (!line || line.chan === CHAN.mark) {
              return;
            }
            setPlotLine({ text: textRow(line.bytes, line.flags).text });
            model.plot.value = true;
          }}
        />
      )}
      <div class="sr" role="status" aria-live="polite" ref={live} />
    </div>
  );
}

/** Lines of a channel that were erased on purpose go from the view too. */
function useCleared(feed: LineFeed, rx: string, tx: string | null): void {
  useEffect(() => {
    const before = new Map<string, number>();
    return effect(() => {
      const through = { rx: 0, tx: 0 };
      for (const channel of channels.value) {
        if (channel.name !== rx && channel.name !== tx) continue;
        const known = before.get(channel.name);
        before.set(channel.name, channel.cleared);
        if (known === undefined || channel.cleared <= known) continue;
        const name = channel.name === rx ? "rx" : "tx";
        const chan = name === "rx" ? CHAN.rx : CHAN.tx;
        through[name] = channel.seqFrom === null ? feed.store.lastSeq(chan) : channel.seqFrom - 1;
      }
      if (through.rx > 0 || through.tx > 0) feed.clearThrough(through);
    });
  }, [feed, rx, tx]);
}

/** Puts what is looked for into the surface; an expression is the server's work, where it cannot hold the page up. */
function useSearch(surface: LogSurface | null, feed: LineFeed, pane: string, names: string[]): void {
  useEffect(() => {
    if (!surface || names.length === 0) return;
    const model = logModel(pane);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let turn = 0;
    const ask = async (pattern: string, caseSensitive: boolean) => {
      const mine = ++turn;
      try {
        const found = await connection().find({ channels: names, pattern, regex: true, caseSensitive });
        if (mine !== turn) return;
        model.problem.value = "";
        const rows = new Set<number>();
        for (const { channel, seqs } of found.channels) {
          for (const seq of seqs) rows.add(feed.store.rowOf(channel === names[0] ? CHAN.rx : CHAN.tx, seq));
        }
        surface.setRegexRows(rows);
      } catch (error) {
        if (mine === turn) model.problem.value = error instanceof Error ? error.message : String(error);
      }
    };
    const later = () => {
      if (!model.regex.peek() || model.pattern.peek() === "") return;
      timer ??= setTimeout(() => {
        timer = undefined;
        ask(model.pattern.peek(), model.caseSensitive.peek());
      }, REGEX_MS);
    };
    const stops = [
      effect(() => {
        const pattern = model.pattern.value;
        const regex = model.regex.value;
        const caseSensitive = model.caseSensitive.value;
        turn++;
        model.problem.value = "";
        surface.setFound(pattern === "" ? undefined : { pattern, caseSensitive, regex });
        later();
      }),
      feed.onChange(later),
    ];
    return () => {
      turn++;
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [surface, feed, pane, names.join("\n")]);
}
