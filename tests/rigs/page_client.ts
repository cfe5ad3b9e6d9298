/**
 * A page without a browser: speaks the page's protocol over a real WebSocket, has controls as written down here, and
 * answers commands as the real page does (the browser tests hold the real one to the same).
 */
import {
  type ActionArgs,
  type ActionName,
  type ActionOutput,
  type Command,
  type Control,
  type ControlValue,
  type Effect,
  type LineFrame,
  type PageMessage,
  type PageState,
  readLineFrame,
  type ServerMessage,
  type SetResult,
  WIRE_PARTIAL,
  type WireError,
  writeChunk,
} from "../../src/core/page_protocol.ts";
import { valueProblem } from "../../src/core/controls.ts";
import type { ToolName } from "../../tools/mod.ts";
import { until } from "./bench.ts";

/** A control with what happens when it is used. */
export interface FakeControl {
  control: Control;
  /** Native events that a listener on the element would have heard. */
  events: string[];
}

export const control = (path: string, more: Partial<Control> = {}): Control => ({
  path,
  kind: "button",
  panel: "serial",
  group: path.split(".")[1] ?? "",
  label: path.split(".").at(-1) ?? path,
  enabled: true,
  disabledReason: null,
  ...more,
});

export class AnswerError extends Error {
  constructor(readonly error: WireError) {
    super(error.message);
  }
}

type Answered = { output: unknown; text: string };

/** Lines of one channel as a page keeps them. */
export class ClientChannel {
  /** seq → text of each line that came, as it came; a line that comes twice is a failure of the test. */
  readonly lines = new Map<number, { text: string; t: number; flags: number }>();
  partial: string | undefined;
  nextSeq = 0;
  twice = 0;
  gaps = 0;
}

export class PageClient {
  readonly state: Partial<PageState> = {};
  readonly messages: ServerMessage[] = [];
  readonly channels = new Map<number, ClientChannel>();
  readonly ids = new Map<string, number>();
  readonly controls = new Map<string, FakeControl>();
  readonly commands: Command[] = [];
  /** Commands are heard and not answered. */
  mute = false;
  /** Called before a command is answered. */
  onCommand: ((command: Command) => void | Promise<void>) | undefined;
  /** Bytes that the page says it has dealt with; undefined: as they come. */
  takenOnly: number | undefined;
  hello: Extract<ServerMessage, { type: "hello" }> | undefined;
  stateMessages: { at: number; parts: string[] }[] = [];
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, PromiseWithResolvers<Answered>>();
  readonly #fetches = new Map<number, (frame: LineFrame) => void>();
  readonly #progress = new Map<number, { done: number; total: number | undefined }[]>();
  readonly #closed: Promise<number>;
  #nextId = 1;
  #received = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => this.#receive(data));
    this.#closed = new Promise((resolve) => socket.addEventListener("close", (e) => resolve(e.code), { once: true }));
  }

  /** Opens a page and waits for its first state. */
  static async open(origin: string, token: string, controls: Control[] = []): Promise<PageClient> {
    const url = `${origin.replace("http", "ws")}/page/stream?token=${token}`;
    const socket = new WebSocket(url);
    const page = new PageClient(socket);
    let failed = false;
    socket.addEventListener("error", () => failed = true);
    await until(() => page.hello !== undefined || failed, "the page got its hello");
    if (failed) throw new Error("the page's stream was refused");
    if (controls.length) page.setControls(controls);
    return page;
  }

  /** Says what it has now. */
  setControls(controls: Control[]): void {
    this.controls.clear();
    for (const c of controls) this.controls.set(c.path, { control: c, events: [] });
    this.send({ type: "controls", controls });
  }

  send(message: PageMessage): void {
    this.#socket.send(JSON.stringify(message));
  }
  sendText(text: string): void {
    this.#socket.send(text);
  }

  focus(): void {
    this.send({ type: "focus" });
  }
  want(channel: string, from: number | "tail" = "tail"): void {
    this.send({ type: "want", channel, from });
  }

  /** A gated call; rejects with {@link AnswerError}. */
  async call(tool: ToolName | string, args: Record<string, unknown> = {}): Promise<Answered> {
    return await this.request((id) => ({ type: "call", id, tool, args })).answer;
  }

  async act<A extends ActionName>(action: A, args: ActionArgs<A>): Promise<ActionOutput<A>> {
    const { output } = await this.request((id) => ({ type: "do", id, action, args })).answer;
    // The test's own words say what it must be.
    return output as ActionOutput<A>;
  }

  request(message: (id: number) => PageMessage): { id: number; answer: Promise<Answered> } {
    const id = this.#nextId++;
    const waiting = Promise.withResolvers<Answered>();
    this.#waiting.set(id, waiting);
    this.send(message(id));
    return { id, answer: waiting.promise };
  }

  cancel(id: number): void {
    this.send({ type: "cancel", id });
  }

  fetch(channel: string, fromSeq: number, count: number): Promise<LineFrame> {
    const { promise, resolve, reject } = Promise.withResolvers<LineFrame>();
    const { id, answer } = this.request((id) => ({ type: "fetch", id, channel, fromSeq, count }));
    this.#fetches.set(id, resolve);
    answer.catch(reject);
    return promise;
  }

  chunk(id: number, bytes: Uint8Array): void {
    this.#socket.send(writeChunk(id, bytes));
  }

  progressOf(id: number): { done: number; total: number | undefined }[] {
    return this.#progress.get(id) ?? [];
  }

  /** What came of a channel so far. */
  channel(name: string): ClientChannel {
    const id = this.ids.get(name);
    return (id === undefined ? undefined : this.channels.get(id)) ?? new ClientChannel();
  }

  texts(name: string): string[] {
    return [...this.channel(name).lines].sort(([a], [b]) => a - b).map(([, line]) => line.text);
  }

  skipped(name: string): number {
    return this.messages.reduce((n, m) => m.type === "skipped" && m.channel === name ? n + m.count : n, 0);
  }

  /** Closes and waits until the socket is gone; gives its code. */
  async close(): Promise<number> {
    if (this.#socket.readyState <= WebSocket.OPEN) this.#socket.close();
    return await this.#closed;
  }
  /** Resolves when the server has closed it. */
  get closed(): Promise<number> {
    return this.#closed;
  }

  #receive(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      const frame = readLineFrame(data);
      if (!frame) throw new Error("a frame that cannot be read");
      if (frame.kind === "fetched") {
        this.#fetches.get(frame.requestId)?.(frame);
        this.#waiting.delete(frame.requestId);
      } else this.#take(frame);
      this.#received += data.byteLength;
      this.send({ type: "taken", bytes: this.takenOnly ?? this.#received });
      return;
    }
    const message: ServerMessage = JSON.parse(String(data));
    this.messages.push(message);
    switch (message.type) {
      case "hello":
        this.hello = message;
        Object.assign(this.state, message.state);
        break;
      case "state": {
        const { type: _, ...parts } = message;
        Object.assign(this.state, parts);
        this.stateMessages.push({ at: performance.now(), parts: Object.keys(parts) });
        break;
      }
      case "following":
        this.ids.set(message.channel, message.channelId);
        break;
      case "progress": {
        const list = this.#progress.get(message.id) ?? [];
        list.push({ done: message.done, total: message.total });
        this.#progress.set(message.id, list);
        break;
      }
      case "answer": {
        const waiting = this.#waiting.get(message.id);
        this.#waiting.delete(message.id);
        if (message.ok) waiting?.resolve({ output: message.output, text: message.text });
        else waiting?.reject(new AnswerError(message.error));
        break;
      }
      case "command":
        this.commands.push(message);
        void this.#answer(message);
    }
  }

  #take(frame: LineFrame): void {
    let channel = this.channels.get(frame.channelId);
    if (!channel) this.channels.set(frame.channelId, channel = new ClientChannel());
    if (channel.nextSeq && frame.firstSeq > channel.nextSeq) channel.gaps += frame.firstSeq - channel.nextSeq;
    channel.partial = undefined;
    for (const record of frame.records) {
      const text = new TextDecoder().decode(record.bytes);
      if (record.flags & WIRE_PARTIAL) {
        channel.partial = text;
        continue;
      }
      if (channel.lines.has(record.seq)) channel.twice++;
      channel.lines.set(record.seq, { text, t: record.t, flags: record.flags });
      channel.nextSeq = record.seq + 1;
    }
  }

  async #answer(command: Command): Promise<void> {
    await this.onCommand?.(command);
    if (this.mute || this.#socket.readyState !== WebSocket.OPEN) return;
    const { id } = command;
    const ok = (result: unknown) => this.send({ type: "ack", id, ok: true, result });
    const missing = (path: string) =>
      this.send({ type: "ack", id, ok: false, error: { reason: "not_found", message: `no control ${path}` } });
    switch (command.kind) {
      case "list":
        return ok({ controls: [...this.controls.values()].map((c) => c.control) });
      case "describe":
      case "get": {
        const found = this.controls.get(command.path);
        return found ? ok(found.control) : missing(command.path);
      }
      case "click":
        return this.controls.has(command.path) ? ok(this.#use([{ path: command.path }])) : missing(command.path);
      case "set":
        return ok(this.#use(command.items));
      case "show":
        return ok({});
    }
  }

  #use(items: readonly { path: string; value?: ControlValue }[]): { results: SetResult[]; effects: Effect[] } {
    const results: SetResult[] = [];
    const effects: Effect[] = [];
    for (const { path, value } of items) {
      const found = this.controls.get(path);
      if (!found) {
        results.push({ path, ok: false, notFound: true, error: "no such control" });
        continue;
      }
      const { control: c } = found;
      if (!c.enabled) {
        results.push({ path, ok: false, disabled: true, error: c.disabledReason ?? "disabled" });
        continue;
      }
      const problem = value === undefined ? undefined : valueProblem(c, value);
      if (problem !== undefined) {
        const options = c.options?.map((o) => o.value);
        results.push({ path, ok: false, badValue: true, error: problem, ...(options && { options }) });
        continue;
      }
      found.events.push(value === undefined || c.kind === "button" ? "click" : "change");
      const from = c.value ?? null;
      let to: ControlValue | null = value ?? (typeof c.value === "boolean" ? !c.value : null);
      // The page normalises as it always does: numbers are whole, texts are trimmed.
      if (c.kind === "number" && typeof to === "number") to = Math.round(to);
      if (c.kind === "text" && typeof to === "string") to = to.trim();
      if (c.kind !== "button" && to !== null) {
        found.control = { ...c, value: to };
        if (to !== from) effects.push({ path, from, to });
      }
      results.push({ path, ok: true, from, to: c.kind === "button" ? null : to });
    }
    return { results, effects };
  }
}
