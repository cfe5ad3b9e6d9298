/** The left column: panes and their state, the ports of this computer, the records. */
import type { PortView } from "../../src/core/page_protocol.ts";
import { Button } from "../controls/button.tsx";
import { pathPart } from "../controls/registry.ts";
import { type Key, t } from "../i18n/mod.ts";
import { ago, bytes, clockSpan } from "../lib/format.ts";
import { act, call, online } from "../lib/server.ts";
import { currentPane, setLayout } from "../lib/settings.ts";
import { keysOf } from "../lib/shortcuts.ts";
import { channels, lostSince, paneNames, paneSettings, portName, ports, second, serverNow } from "../lib/store.ts";
import { dotOf, frameOf, lostName, stateText } from "../panes/status.tsx";
import { holderText, offline } from "../panes/toolbar.tsx";
import { addPane, showPane } from "../panes/work.tsx";
import { useRef } from "preact/hooks";
import { useFlow } from "../panes/toolbar.tsx";

const KIND_KEYS: Readonly<Record<PortView["kind"], Key>> = {
  usb: "kind.usb",
  platform: "kind.platform",
  virtual: "kind.virtual",
};

/** Bytes a second of a pane over the last seconds, from its counters. */
function useRate(name: string): number {
  const flow = useFlow(name);
  const marks = useRef<{ at: number; bytes: number }[]>([]);
  const total = flow ? flow.counters.rxBytes + flow.counters.txBytes : 0;
  const now = performance.now();
  const list = marks.current;
  const last = list[list.length - 1];
  if (!last || now - last.at > 450) list.push({ at: now, bytes: total });
  while (list.length > 2 && now - (list[0]?.at ?? now) > 3000) list.shift();
  const first = list[0];
  if (!first || now - first.at < 400) return 0;
  return Math.max(0, ((total - first.bytes) * 1000) / (now - first.at));
}

/** A name without the path that stands beside it elsewhere. */
const shortName = (name: string, path: string): string => name.replace(` (${path})`, "");

function PaneItem({ name }: { name: string }) {
  const pane = paneSettings(name);
  second.value;
  const perSec = useRate(name);
  if (!pane) return null;
  const right = !online.value
    ? ""
    : pane.status === "open"
    ? perSec >= 1
      ? t("unit.bytesPerSec", { size: bytes(Math.round(perSec)) })
      : pane.openSince === null
      ? ""
      : clockSpan(serverNow() - pane.openSince)
    : pane.status === "lost"
    ? t("rail.waiting")
    : pane.status === "opening"
    ? t("rail.opening")
    : "";
  const small = pane.status === "lost"
    ? lostSince(name) === undefined || !online.value
      ? t("rail.unplugged", { device: shortName(lostName(pane), pane.port) })
      : t("rail.unpluggedAgo", {
        device: shortName(lostName(pane), pane.port),
        span: ago(serverNow() - (lostSince(name) ?? 0)),
      })
    : pane.port === ""
    ? t("rail.noPort")
    : `${shortName(portName(pane.port), pane.port)}, ${pane.baud} ${frameOf(pane)}`;
  return (
    <li>
      <Button
        path={`serial.panes.show-${pathPart(name)}`}
        label={t("rail.showPane", { pane: pane.label || name, state: stateText(pane) })}
        class="item"
        ownName
        current={currentPane.value === name}
        onClick={() => {
          showPane(name);
          if (innerWidth < 900) setLayout({ rail: false });
        }}
      >
        <span class={dotOf(pane.status)} />
        <span class="name cut">{pane.label || name}</span>
        <span class="num">{right}</span>
        <small>{small}</small>
      </Button>
    </li>
  );
}

/**
 * Chooses a port for the current pane, or, when that one is busy, for one that is closed or a new one: a click in a list
 * never takes a device away from a pane.
 */
async function choosePort(port: string): Promise<void> {
  const isFree = (name: string) => paneSettings(name)?.status === "closed";
  const names = paneNames.peek();
  const free = [currentPane.peek(), ...names].find((name) => names.includes(name) && isFree(name));
  const pane = free ?? (await act("pane.add", {})).pane;
  await call("serial_select_port", { pane, port });
  for (let i = 0; i < 50 && !showPane(pane); i++) await new Promise((resolve) => setTimeout(resolve, 40));
}

function PortItem({ port }: { port: PortView }) {
  const holder = holderText(port.holder);
  const inPane = /^pane (\S+)$/.exec(port.holder ?? "")?.[1];
  const ids = port.vendorId && port.productId ? `${port.vendorId}:${port.productId}` : "";
  const more = [port.value, ids, port.serialNumber ?? ""].filter((one) => one !== "" && one !== port.friendlyName).join(
    t("join.comma"),
  );
  const name = shortName(port.friendlyName, port.value);
  return (
    <li>
      <Button
        path={`serial.ports.choose-${pathPart(port.value)}`}
        label={inPane === undefined
          ? t("rail.usePort", { port: port.friendlyName })
          : t("rail.goToPort", { port: port.friendlyName, pane: inPane })}
        class="item"
        ownName
        tool="serial_select_port"
        disabledReason={offline()}
        onClick={() => inPane === undefined ? choosePort(port.value) : showPane(inPane)}
      >
        <span class={!port.inUse || !online.value ? "dot off" : inPane === undefined ? "dot wait" : "dot on"} />
        <span class="cut">{name}</span>
        <span class={`tag${port.kind === "virtual" ? " unreal" : ""}`}>
          {/simulat|demo/i.test(port.friendlyName + port.product) ? t("kind.simulated") : t(KIND_KEYS[port.kind])}
        </span>
        <small>{port.inUse ? `${holder}${t("join.stop")}` : ""}{more}</small>
      </Button>
    </li>
  );
}

export function Rail() {
  return (
    <aside class="rail" id="rail" aria-label={t("rail.title")}>
      <h2>
        <span>{t("rail.panes")}</span>
        <Button
          path="serial.panes.add"
          label={t("rail.addPane")}
          icon="add"
          keys={keysOf("add")}
          look="quiet"
          disabledReason={offline() ?? (paneNames.value.length >= 16 ? t("why.manyPanes") : null)}
          onClick={addPane}
        />
      </h2>
      <ul>{paneNames.value.map((name) => <PaneItem key={name} name={name} />)}</ul>
      <h2>
        <span>{t("rail.ports")}</span>
        <Button
          path="serial.ports.rescan"
          label={t("pane.rescan")}
          icon="rescan"
          look="quiet"
          tool="serial_list_ports"
          disabledReason={offline()}
          onClick={() => act("ports.rescan", {})}
        />
      </h2>
      {ports.value.length === 0
        ? <p class="none">{t("rail.noPorts")}</p>
        : <ul>{ports.value.map((port) => <PortItem key={port.value} port={port} />)}</ul>}
      <h2>
        <span>{t("rail.records")}</span>
      </h2>
      <ul>
        <li>
          <Button
            path="global.rail.logCentre"
            label={t("rail.logCentre")}
            class="item"
            ownName
            onClick={() => setLayout({ side: true, tab: "logs", ...(innerWidth < 900 && { rail: false }) })}
          >
            <span />
            <span>{t("rail.logCentre")}</span>
            <span class="num">{channels.value.length}</span>
          </Button>
        </li>
      </ul>
    </aside>
  );
}
