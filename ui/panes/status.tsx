/** What is true of a pane, in one line and, where there is something to do, in a notice or an empty view. */
import type { PaneView } from "../../src/core/page_protocol.ts";
import { Button } from "../controls/button.tsx";
import { find, panePath } from "../controls/registry.ts";
import { sentences, t } from "../i18n/mod.ts";
import { ago, bytes, clockSpan, count } from "../lib/format.ts";
import { act, online } from "../lib/server.ts";
import { lostSince, paneNames, type PaneSettings, portName, ports, second, serverNow } from "../lib/store.ts";
import { hints, start, stop } from "./actions.ts";
import { offline, useFlow } from "./toolbar.tsx";

/** Data bits, parity, stop bits as technicians write them: `8N1`. */
export const frameOf = (pane: Pick<PaneView, "dataBits" | "parity" | "stopBits">): string =>
  `${pane.dataBits}${pane.parity[0]?.toUpperCase() ?? ""}${pane.stopBits}`;

/** The dot that goes with a status. */
const DOTS: Readonly<Record<PaneView["status"], string>> = {
  open: "dot on",
  opening: "dot wait",
  lost: "dot wait",
  closing: "dot off",
  closed: "dot off",
};

/** The device that a pane waits for, in words. */
export const lostName = (pane: PaneSettings): string => {
  const told = pane.lostDevice ?? pane.port;
  return told === pane.port ? portName(pane.port) : told;
};

/** The dot of a pane; while the server is gone nobody knows. */
export const dotOf = (status: PaneView["status"]): string => online.value ? DOTS[status] : "dot off";

export function stateText(pane: PaneSettings): string {
  if (!online.value) {
    const state = pane.isConnected ? "state.open" : pane.status === "lost" ? "rail.waiting" : "state.closed";
    return t("state.lastKnown", { state: t(state) });
  }

  switch (pane.status) {
    case "open":
      return pane.openSince === null
        ? t("state.open")
        : t("state.openFor", { span: clockSpan(serverNow() - pane.openSince) });
    case "opening":
      return t("state.opening", { port: pane.port });
    case "closing":
      return t("state.closing");
    case "lost":
      return t("state.waiting", { device: lostName(pane) });
    case "closed":
      return t("state.closed");
  }
}

/** Since when it is away, and what will happen. */
function lostText(pane: PaneSettings): string {
  second.value;
  const since = lostSince(pane.pane);
  const age = since === undefined ? "" : t("lost.since", { span: ago(serverNow() - since) });
  return sentences(age, pane.autoReconnect ? t("lost.back") : t("lost.noReconnect"));
}

export function StatusLine({ pane }: { pane: PaneSettings }) {
  const flow = useFlow(pane.pane);
  second.value;
  const c = flow?.counters;
  // What the driver really has, read back, and how that differs from what was asked, come in the server's words.
  const [, real = `${pane.actualBaud ?? pane.baud} ${frameOf(pane)}`, differs] =
    / at (\d+ \S+?)(?:; (.*))?$/.exec(pane.statusText) ?? [];
  return (
    <div class="status" role="group" aria-label={t("state.of", { pane: pane.pane })}>
      {paneNames.value.length > 1 && <b class="who cut">{pane.label || pane.pane}</b>}
      <span class="state" data-tip={pane.isConnected ? pane.statusText : undefined}>
        <span class={dotOf(pane.status)} />
        <span class="cut">{stateText(pane)}</span>
      </span>
      {pane.isConnected && (
        <span class={differs ? "num warned" : "num line"} data-tip={differs}>
          {real}
          {differs && ` (${t("state.differs")})`}
        </span>
      )}
      {c && (
        <>
          <span class="num">
            {t("count.in", { n: c.rxLines })}
            <span class="size">{t("join.comma")}{bytes(c.rxBytes)}</span>
          </span>
          <span class="num">
            {t("count.out", { n: c.txLines })}
            <span class="size">{t("join.comma")}{bytes(c.txBytes)}</span>
          </span>
          {c.dropped > 0
            ? <span class="num warned" data-tip={t("count.droppedWhy")}>{t("count.dropped", { n: c.dropped })}</span>
            : <span class="num size">{t("count.dropped", { n: 0 })}</span>}
        </>
      )}
    </div>
  );
}

/** Why the last start did not work: the server's words, which name who holds the port when that is known. */
const troubled = (pane: PaneSettings): boolean =>
  pane.status === "closed" && pane.statusText !== "" && pane.statusText !== "closed" &&
  pane.statusText.includes(pane.port);

/** The server's words for a refusal, in the page's language where they are known; others as they are. */
function refusal(text: string): string {
  const [, port = "", who = ""] = /^(\S+) is in use by (.+?)\.?$/.exec(text) ?? [];
  if (who === "another program") return t("refused.other", { port });
  if (who !== "") return t("refused.inUse", { port, who });
  const gone = /^(\S+) is not there\b/.exec(text)?.[1];
  if (gone !== undefined) return t("refused.gone", { port: gone });
  const forbidden = /^No permission to open (\S+?)\.?$/.exec(text)?.[1];
  if (forbidden !== undefined) return t("refused.permission", { port: forbidden });
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Over the log: waiting for a device, or why it could not be opened. What is in the log stays. */
export function Notice({ pane }: { pane: PaneSettings }) {
  const flow = useFlow(pane.pane);
  const lines = (flow?.counters.rxLines ?? 0) + (flow?.counters.txLines ?? 0);
  const name = pane.pane;
  // While the server is gone its banner speaks; what this would promise is not known.
  if (!online.value) return null;
  if (pane.isConnected && pane.portName !== "" && pane.portName !== pane.port) {
    return (
      <div class="notice plain">
        <p>
          <span role="status">{t("other.title", { port: portName(pane.portName) })}</span>
          <small>{t("other.text", { port: portName(pane.port) })}</small>
        </p>
        <OpenAgain pane={name} as="switch" label={t("other.switch")} />
      </div>
    );
  }
  if (pane.status === "lost" && lines > 0) {
    return (
      <div class="notice">
        <p>
          <span role="status">{t("lost.title", { device: lostName(pane) })}</span>
          <small>{sentences(lostText(pane), t("lost.kept", { n: lines }))}</small>
        </p>
        <div class="acts">
          <OtherPort pane={name} />
          <StopWaiting pane={name} />
        </div>
      </div>
    );
  }
  if (troubled(pane) && lines > 0) {
    return (
      <div class="notice bad" role="status">
        <p>
          {refusal(pane.statusText)}
          {hints.value[name] && <small>{hints.value[name]}</small>}
        </p>
        <OpenAgain pane={name} as="again" label={t("pane.again")} />
      </div>
    );
  }
  return null;
}

function OpenAgain({ pane, as, label }: { pane: string; as: "switch" | "again"; label: string }) {
  return (
    <Button
      path={panePath(pane, "notice", as)}
      label={label}
      tool="serial_open"
      disabledReason={offline()}
      onClick={() => start(pane)}
    >
      {label}
    </Button>
  );
}

function StopWaiting({ pane }: { pane: string }) {
  return (
    <Button
      path={panePath(pane, "notice", "stopWaiting")}
      label={t("pane.stopWaiting")}
      look="quiet"
      tool="serial_close"
      disabledReason={offline()}
      onClick={() => stop(pane)}
    >
      {t("pane.stopWaiting")}
    </Button>
  );
}

function OtherPort({ pane }: { pane: string }) {
  return (
    <Button
      path={panePath(pane, "notice", "otherPort")}
      label={t("lost.other")}
      onClick={() => find(panePath(pane, "conn", "portSelect"))?.element.focus()}
    >
      {t("lost.other")}
    </Button>
  );
}

/** In place of the log while there is nothing in it: what is so, and what to do next. Undefined: there is a log. */
export function EmptyState({ pane }: { pane: PaneSettings }) {
  const name = pane.pane;
  const rescan = (
    <Button
      path={panePath(name, "empty", "rescan")}
      label={t("pane.rescan")}
      disabledReason={offline()}
      onClick={() => act("ports.rescan", {})}
    >
      {t("pane.rescan")}
    </Button>
  );
  if (!online.value) {
    return (
      <div class="empty">
        <b>{t("gone.title")}</b>
        <p>{stateText(pane)}</p>
      </div>
    );
  }
  if (pane.status === "lost") {
    return (
      <div class="empty">
        <b role="status">{t("lost.title", { device: lostName(pane) })}</b>
        <p>{lostText(pane)}</p>
        <div class="acts">
          <OtherPort pane={name} />
          <StopWaiting pane={name} />
        </div>
      </div>
    );
  }
  if (pane.status === "opening") {
    return (
      <div class="empty" role="status">
        <b>{t("empty.opening", { port: portName(pane.port) })}</b>
      </div>
    );
  }
  if (pane.status === "open") {
    return (
      <div class="empty" role="status">
        <b>{t("empty.silent")}</b>
        <p>{t("empty.silentHint", { baud: String(pane.actualBaud ?? pane.baud) })}</p>
      </div>
    );
  }
  if (troubled(pane)) {
    return (
      <div class="empty" role="status">
        <b>{t("empty.refused", { port: portName(pane.port) })}</b>
        <p>
          {sentences(refusal(pane.statusText), hints.value[name] ?? "")}
        </p>
        <div class="acts">
          <OpenAgain pane={name} as="again" label={t("pane.again")} />
          <OtherPort pane={name} />
        </div>
      </div>
    );
  }
  if (ports.value.length === 0 && pane.portOptions.length === 0) {
    return (
      <div class="empty">
        <b>{t("empty.noPorts")}</b>
        <p>{t("empty.noPortsHint")}</p>
        <p>
          {t("empty.demoHint")} <code>fieldbench serve --demo</code>
        </p>
        <div class="acts">{rescan}</div>
      </div>
    );
  }
  if (pane.port === "") {
    return (
      <div class="empty">
        <b>{t("empty.choose")}</b>
        <p>{t("empty.chooseHint", { n: count(pane.portOptions.filter((o) => !o.inUse).length) })}</p>
        <div class="acts">{rescan}</div>
      </div>
    );
  }
  return (
    <div class="empty">
      <b>{t("empty.ready", { port: portName(pane.port) })}</b>
      <p>{t("empty.readyHint", { baud: String(pane.baud), frame: frameOf(pane) })}</p>
      <div class="acts">
        <Button
          path={panePath(name, "empty", "start")}
          label={t("pane.start")}
          look="primary"
          tool="serial_open"
          disabledReason={offline()}
          onClick={() => start(name)}
        >
          {t("pane.start")}
        </Button>
      </div>
    </div>
  );
}
