import type { Bench } from "../bench/bench.ts";
import { type PortOption, viewOf } from "../bench/pane_state.ts";
import { realPathOf } from "../bench/port_globs.ts";
import type { PaneView, PortView } from "../core/page_protocol.ts";

/** Asking the system who holds which port costs more than a tick has: not more often than this, unless asked, ms. */
const OPTIONS_MS = 5000;

/**
 * Panes and ports as pages see them. What a pane may choose is kept for some seconds, and made anew at once when a port
 * or the state of a pane changed.
 */
export class PaneViews {
  readonly #bench: Bench;
  readonly #options = new Map<string, PortOption[]>();
  readonly #untouch: (() => void)[];
  #madeAt = -Infinity;
  #mark = "";
  #portsChanged: () => void;

  constructor(bench: Bench, onPorts: () => void) {
    this.#bench = bench;
    this.#portsChanged = onPorts;
    this.#untouch = [bench.ports.onChange(() => this.touch())];
  }

  /** Everything is to be asked anew. */
  touch(): void {
    this.#madeAt = -Infinity;
    this.#portsChanged();
  }

  close(): void {
    for (const end of this.#untouch) end();
  }

  async panes(): Promise<PaneView[]> {
    const { panes, hub } = this.#bench;
    const all = panes.all();
    const mark = all.map((p) => `${p.name} ${p.settings.port} ${p.link.status}`).join("\n");
    if (mark !== this.#mark || hub.now() - this.#madeAt > OPTIONS_MS) {
      if (mark !== this.#mark) this.#portsChanged();
      this.#mark = mark;
      this.#madeAt = hub.now();
      this.#options.clear();
      for (const pane of all) this.#options.set(pane.name, await panes.portOptions(pane));
    }
    const names = panes.names();
    return panes.all().map((pane) => viewOf(pane, names, this.#options.get(pane.name) ?? []));
  }

  async ports(): Promise<PortView[]> {
    const { ports, panes } = this.#bench;
    return (await ports.list()).map((info): PortView => {
      const pane = panes.holderOf(realPathOf(info.path), "");
      const holder = pane === undefined ? ports.holder(info.path) ?? null : `pane ${pane}`;
      return {
        value: info.path,
        friendlyName: info.friendlyName,
        kind: info.kind,
        product: info.product,
        inUse: holder !== null,
        holder,
        vendorId: info.vendorId ?? null,
        productId: info.productId ?? null,
        serialNumber: info.serialNumber ?? null,
      };
    });
  }
}
