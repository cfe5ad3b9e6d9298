import type { Bench } from "../bench/bench.ts";
import { invalid } from "../core/errors.ts";
import type { ServerView } from "../core/page_protocol.ts";
import type { Gate } from "../gate/gate.ts";
import type { PageBridge } from "../handlers/page_bridge.ts";
import type { ServerState } from "../handlers/server_state.ts";
import type { SavedState } from "../handlers/ui_state.ts";
import { monitorOf } from "./monitor_state.ts";
import type { ConfigFile } from "../store/config.ts";
import { actionsOf, runAction } from "./actions.ts";
import { CallList } from "./calls.ts";
import { ChannelViews } from "./channel_views.ts";
import { PageCommands } from "./commands.ts";
import { connectInfo } from "./connect_info.ts";
import { PageControlTools } from "./control_tools.ts";
import { ChannelIds, LineStream } from "./line_stream.ts";
import { PageFind } from "./find.ts";
import { olderLines } from "./older.ts";
import { type ConnectionHost, PageConnection, type PageRequest, type RequestContext } from "./page_connection.ts";
import { Pace } from "./pace.ts";
import { PaneViews } from "./pane_views.ts";
import { Person } from "./person.ts";
import { serverView } from "./server_view.ts";
import { PageSettings } from "./settings.ts";
import { type PartName, StateFeed } from "./state_feed.ts";
import { Switches } from "./switches.ts";
import { LIMITS } from "../../tools/mod.ts";

/** Not more state than ten times a second; while nothing happens it is looked at less often, and lines too. */
const STATE_MS = { busyMs: 100, idleMs: 300 };
const LINES_MS = { busyMs: 15, idleMs: 60 };
/** State waits for a page that has more than this still to read. */
const MAX_BACKLOG = 1024 * 1024;
const NO_TOOLS = { on: false, namespaces: [] };

export interface PageHubOptions {
  bench: Bench;
  /** The user's settings; absent: page settings are not kept. */
  config?: ConfigFile | undefined;
  /** Where sessions are kept on disk; absent: they are not. */
  sessionLogFolder?: string | undefined;
  /** For tests: shorter times, ms. */
  timing?: { commandMs?: number; askMs?: number };
}

/** What is there only when the server is: it needs the {@link PageHub.bridge} to be made. */
export interface ServerParts {
  server: ServerState;
  gate: Gate;
  /** A new token is in the settings: puts it in force. Absent: it cannot be changed. */
  tokenChanged?: () => void | Promise<void>;
  /** How the client of a session calls itself. */
  clientName?: (session: string) => string | undefined;
}

/**
 * All pages of this program: state and lines out, requests and commands in. The tools reach the page that was last
 * looked at through {@link bridge}; what a person decides over agents is asked by the gate through {@link attach}.
 */
export class PageHub {
  readonly commands: PageCommands;
  readonly bridge: PageBridge;
  readonly controlTools: PageControlTools;
  readonly person: Person;
  readonly settings: PageSettings;
  readonly #options: PageHubOptions;
  #parts: (ServerParts & { switches: Switches; actions: ReturnType<typeof actionsOf> }) | undefined;
  readonly #pages = new Map<PageConnection, LineStream>();
  readonly #ids = new ChannelIds();
  readonly #views: PaneViews;
  readonly #calls: CallList;
  readonly #feed: StateFeed;
  readonly #host: ConnectionHost;
  readonly #ends: (() => void)[] = [];
  readonly #find: PageFind;
  #lastPage = 0;
  #lastFocus = 0;
  #lastAgentCall = -Infinity;
  readonly #states = new Pace({ ...STATE_MS, run: () => this.#sendState() });
  readonly #lines = new Pace({ ...LINES_MS, run: () => this.#tickLines() });
  #closed = false;

  constructor(options: PageHubOptions) {
    this.#options = options;
    const { bench, timing } = options;
    const now = () => bench.hub.now();
    const pages = () => this.#pages.size;
    const touch = (part: PartName) => () => {
      this.#feed.touch(part);
      this.#states.wake();
    };
    this.#find = new PageFind(bench.hub);
    const who = (session: string) => whoIs(session, this.#parts?.clientName?.(session));
    this.settings = new PageSettings(options.config);
    this.person = new Person({
      pages,
      now,
      who,
      askFirst: () => this.#parts?.switches.askPerson ?? false,
      onChange: touch("asks"),
      ...(timing?.askMs !== undefined && { askMs: timing.askMs }),
    });
    this.commands = new PageCommands({
      pages,
      target: () => this.#spokenTo(),
      ...(timing?.commandMs !== undefined && { timeoutMs: timing.commandMs }),
    });
    this.bridge = this.commands;
    this.controlTools = new PageControlTools({ settings: () => this.#parts?.switches.controlTools ?? NO_TOOLS, pages });
    this.#views = new PaneViews(bench, touch("ports"));
    this.#calls = new CallList({ now, who, onChange: touch("calls") });
    const channels = new ChannelViews(bench.hub, this.#ids);
    this.#feed = new StateFeed({
      panes: () => this.#views.panes(),
      ports: () => this.#views.ports(),
      channels: () => channels.views(),
      server: () => this.#serverView(),
      calls: () => this.#calls.views(),
      asks: () => this.person.asks(),
      settings: () => this.settings.all(),
    }, (part, error) => this.#problem(`page state ${part}`, error));
    this.#host = {
      request: (page, request, context) => this.#request(page, request, context),
      message: (page, message) => this.#message(page, message),
      dangerous: (tool) => this.#need().gate.rows().some((r) => r.name === tool && r.danger !== undefined),
      controls: () => this.#controlsChanged(),
      closed: (page) => this.#gone(page),
      problem: (where, error) => this.#problem(where, error),
    };
    this.#ends.push(bench.panes.changed.on(() => this.#states.wake()));
    this.#ends.push(bench.panes.shown.on(({ pane }) => this.commands.show(pane)));
  }

  /**
   * The server whose pages these are, and the gate that they call tools through; the gate tells of calls, and asks
   * before it runs one. Once, before the first page.
   */
  attach(parts: ServerParts): void {
    const { server, gate } = parts;
    const switches = new Switches(server, { onToken: parts.tokenChanged });
    const actions = actionsOf({
      bench: this.#options.bench,
      views: this.#views,
      person: this.person,
      settings: this.settings,
      switches,
      connectInfo: () => connectInfo(server.address, server.token, server.transport),
      onSettings: () => {
        this.#feed.touch("settings");
        this.#states.wake();
      },
      onControlTools: () => this.controlTools.settingsChanged(),
    });
    this.#parts = { ...parts, switches, actions };
    server.pages = () => this.#pages.size;
    server.controls = () => this.#spokenTo()?.controls.length ?? 0;
    server.extraTools = () => this.controlTools.list().length;
    gate.guard = this.person.guard;
    this.#ends.push(gate.watch({
      begin: (record) => {
        if (record.kind !== "page") this.#lastAgentCall = this.#options.bench.hub.now();
        this.#calls.begin(record);
        this.#wake();
      },
      end: (record) => {
        this.#calls.end(record);
        this.#wake();
      },
    }));
  }

  /** What `ui_get_state` tells. */
  get saved(): SavedState {
    const { panes } = this.#options.bench;
    return {
      monitors: () => Object.fromEntries(panes.all().map((p) => [p.name, monitorOf(p)])),
      settings: () => this.settings.all(),
      os: Deno.build.os,
    };
  }

  get pages(): number {
    return this.#pages.size;
  }

  /** Takes a page's socket; the page gets `hello` when it is open. */
  accept(socket: WebSocket): void {
    const page = new PageConnection(++this.#lastPage, socket, this.#host);
    page.focus = ++this.#lastFocus;
    const begin = () => {
      if (this.#closed || this.#pages.size >= LIMITS.maxPages) return page.close();
      void this.#welcome(page);
    };
    if (socket.readyState === WebSocket.OPEN) begin();
    else socket.addEventListener("open", begin, { once: true });
  }

  /** Ends all conversations; what waits for a page or for a person is answered. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#ends.splice(0)) end();
    this.#views.close();
    this.person.close();
    this.controlTools.close();
    for (const page of [...this.#pages.keys()]) page.close();
    this.#find.close();
    await this.#lines.stop();
    await this.#states.stop();
  }

  #spokenTo(): PageConnection | undefined {
    let best: PageConnection | undefined;
    for (const page of this.#pages.keys()) if (page.isOpen && (!best || page.focus > best.focus)) best = page;
    return best;
  }

  async #welcome(page: PageConnection): Promise<void> {
    this.#changed(await this.#feed.update());
    if (!page.isOpen || this.#closed) return;
    // Others may have come while this one waited.
    if (this.#pages.size >= LIMITS.maxPages) return page.close();
    const { hub } = this.#options.bench;
    const head = {
      type: "hello",
      version: this.#need().server.version,
      pageId: page.id,
      epochMs: hub.wallMs(0),
      now: hub.now(),
    };
    page.sendText(`${JSON.stringify(head).slice(0, -1)},"state":{${this.#feed.members(this.#feed.all)}}}`);
    this.#pages.set(page, new LineStream(hub, this.#ids, page));
    page.begin();
    this.#lines.start();
    this.#states.start();
  }

  #gone(page: PageConnection): void {
    if (!this.#pages.delete(page)) return;
    if (this.#pages.size > 0) return this.#controlsChanged();
    void this.#lines.stop();
    void this.#states.stop();
  }

  #tickLines(): boolean {
    let busy = false;
    for (const [page, lines] of this.#pages) {
      try {
        if (page.isOpen && lines.tick()) busy = true;
      } catch (error) {
        this.#problem("lines to a page", error);
        page.close();
      }
    }
    return busy;
  }

  async #sendState(): Promise<boolean> {
    let busy = false;
    this.#changed(await this.#feed.update());
    for (const page of this.#pages.keys()) {
      if (page.stale.size === 0) continue;
      busy = true;
      if (page.backlog > MAX_BACKLOG) continue;
      this.#tellState(page);
    }
    return busy;
  }

  #tellState(page: PageConnection): void {
    if (page.stale.size === 0) return;
    page.sendText(`{"type":"state",${this.#feed.members(page.stale)}}`);
    page.stale.clear();
    this.#need().server.statusEmits++;
  }

  /** Something happens: what the page shows follows it quickly. */
  #wake(): void {
    this.#lines.wake();
    this.#states.wake();
  }

  #changed(parts: readonly PartName[]): void {
    for (const page of this.#pages.keys()) for (const part of parts) page.stale.add(part);
  }

  #serverView(): ServerView {
    const { server, switches } = this.#need();
    return serverView(server, {
      paused: this.person.paused,
      askPerson: switches.askPerson,
      controlTools: switches.controlTools.on,
      calledMsAgo: this.#options.bench.hub.now() - this.#lastAgentCall,
      logFolder: this.#options.sessionLogFolder ?? "",
    });
  }

  #need() {
    if (!this.#parts) throw new Error("a page came before the server was attached");
    return this.#parts;
  }

  #problem(where: string, error: unknown): void {
    this.#parts?.gate.reports.report(where, error);
  }

  #message(page: PageConnection, message: Parameters<ConnectionHost["message"]>[1]): void {
    const lines = this.#pages.get(page);
    switch (message.type) {
      case "want":
        return lines?.want(message.channel, message.from);
      case "unwant":
        return lines?.unwant(message.channel);
      case "focus":
        page.focus = ++this.#lastFocus;
        return this.#controlsChanged();
      case "controls":
        return page.setControls(message.controls);
      case "ack":
        return this.commands.ack(page, message.id, message);
    }
  }

  #controlsChanged(): void {
    const page = this.#spokenTo();
    if (page?.hasControls) this.controlTools.update(page.controls);
  }

  async #request(
    page: PageConnection,
    request: PageRequest,
    context: RequestContext,
  ): Promise<{ output: unknown; text: string } | undefined> {
    this.#wake();
    switch (request.type) {
      case "call":
        return await this.#need().gate.call(request.tool, request.args, {
          caller: { kind: "page", session: `page-${page.id}`, src: "ui" },
          signal: context.signal,
          progress: context.progress,
        });
      case "do": {
        const answer = await runAction(this.#need().actions, request.action, request.args, context);
        // Other pages may be those of who has the old token; a person's own sign in again.
        if (request.action === "server.resetToken") {
          for (const other of [...this.#pages.keys()]) if (other !== page) other.close();
        }
        return answer;
      }
      case "fetch":
        if (this.#pages.get(page)?.fetch(request.id, request.channel, request.fromSeq, request.count)) return undefined;
        throw invalid(`No channel ${request.channel}.`);
      case "find": {
        const { channels, pattern, regex = false, caseSensitive = false } = request;
        return {
          output: await this.#find.find({ channels, pattern, regex, caseSensitive }, context.signal),
          text: "",
        };
      }
      case "older":
        return { output: await this.#older(request), text: "" };
      case "sync":
        await this.#sync(page);
        return { output: null, text: "" };
    }
  }

  /** Sends a page what it has not been sent, whatever the pace is: who waits for a change sees it then. */
  async #sync(page: PageConnection): Promise<void> {
    this.#changed(await this.#feed.fresh());
    this.#tellState(page);
  }

  async #older(request: Extract<PageRequest, { type: "older" }>) {
    const { bench, sessionLogFolder } = this.#options;
    const pane = bench.panes.need(request.pane);
    if (sessionLogFolder === undefined) return { lines: [], cursor: null };
    await pane.log.flush();
    const before = typeof request.before === "string"
      ? { cursor: request.before }
      : { wallMs: bench.hub.wallMs(request.before), held: request.held ?? 1 };
    return await olderLines(sessionLogFolder, pane.name, before, request.count);
  }
}

/** A client in a few characters: its name and the beginning of its session, which tells two of the same name apart. */
const whoIs = (session: string, name: string | undefined): string =>
  name === undefined || name === "unknown" ? session.slice(0, 12) : `${name.slice(0, 40)} ${session.slice(0, 4)}`;
