import assert from "node:assert/strict";
import { FLAG } from "../../src/core/line.ts";
import type { LineFrame, OlderResult, ServerMessage, WireRecord } from "../../src/core/page_protocol.ts";
import { WIRE_PARTIAL } from "../../src/core/page_protocol.ts";
import { LineFeed } from "../../ui/lib/ring_client.ts";
import { CHAN, MARK } from "../../ui/log/line_store.ts";

type MessageOf<T extends ServerMessage["type"]> = Extract<ServerMessage, { type: T }>;
const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const wait = (ms = 15): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const EMPTY_STATE = { panes: [], ports: [], channels: [], calls: [], asks: [], settings: {} };

/** A server with two channels, as far as a feed sees one. */
class FakeLink {
  online = true;
  readonly rings = new Map<string, { t: number; text: string }[]>([["rx", []], ["tx", []]]);
  readonly wanted = new Map<string, number | "tail">();
  readonly ids: Record<string, number> = { rx: 1, tx: 2 };
  older: (query: object) => Promise<OlderResult> = () => Promise.resolve({ lines: [], cursor: null });
  readonly #listeners = new Map<string, Set<(message: never) => void>>();
  readonly #frames = new Set<(frame: LineFrame) => void>();

  on<T extends ServerMessage["type"]>(type: T, listener: (message: MessageOf<T>) => void): () => void {
    const set = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, set);
    set.add(listener as (message: never) => void);
    return () => set.delete(listener as (message: never) => void);
  }
  onFrame(listener: (frame: LineFrame) => void): () => void {
    this.#frames.add(listener);
    return () => this.#frames.delete(listener);
  }
  tell(message: { type: ServerMessage["type"] } & Record<string, unknown>): void {
    for (const listener of this.#listeners.get(message.type) ?? []) listener(message as never);
  }
  want(channel: string, from: number | "tail"): void {
    this.wanted.set(channel, from);
    this.tell({ type: "following", channel, channelId: this.ids[channel], fromSeq: from });
  }
  unwant(channel: string): void {
    this.wanted.delete(channel);
  }
  fetch(channel: string, fromSeq: number, _count: number): Promise<LineFrame> {
    const ring = this.rings.get(channel);
    if (!ring) return Promise.reject(new Error("no such channel"));
    return Promise.resolve(this.frame(channel, fromSeq, "fetched"));
  }
  frame(channel: string, fromSeq: number, kind: "lines" | "fetched" = "lines", open?: string): LineFrame {
    const dir = channel === "rx" ? FLAG.dirRx : FLAG.dirTx;
    const record = (seq: number, t: number, text: string, flags: number): WireRecord => ({
      seq,
      t,
      flags: dir | flags,
      raw: text.length,
      bytes: encode(text),
    });
    const ring = this.rings.get(channel) ?? [];
    const records = ring.slice(fromSeq - 1).map((l, i) => record(fromSeq + i, l.t, l.text, 0));
    if (open !== undefined) records.push(record(ring.length + 1, 999, open, WIRE_PARTIAL));
    return { kind, channelId: this.ids[channel] ?? 0, requestId: 0, firstSeq: fromSeq, records };
  }
  send(frame: LineFrame): void {
    for (const listener of this.#frames) listener(frame);
  }
  hello(epochMs: number): void {
    this.tell({ type: "hello", version: "1", pageId: 1, epochMs, now: 0, state: EMPTY_STATE });
  }
}

function texts(feed: LineFeed): string[] {
  const { store } = feed;
  const out: string[] = [];
  for (let row = store.firstRow; row < store.endRow + store.partials.length; row++) {
    const line = store.line(row);
    out.push(line?.chan === CHAN.mark ? `<${line.seq}:${line.raw}>` : new TextDecoder().decode(line?.bytes));
  }
  return out;
}

const feedOf = (link: FakeLink, pane: string | null = "main"): LineFeed =>
  new LineFeed(link, { rx: "rx", tx: "tx", pane }, 1000);

Deno.test("a feed takes what the rings hold, merged by time, and then what comes; wall times are kept", async () => {
  const link = new FakeLink();
  link.rings.set("rx", [{ t: 1, text: "a" }, { t: 3, text: "c" }]);
  link.rings.set("tx", [{ t: 2, text: "b" }]);
  const feed = feedOf(link);
  await wait();
  assert.deepEqual(texts(feed), ["a", "b", "c"]);
  assert.equal(feed.store.line(0)?.wall, 1001);
  assert.deepEqual([...link.wanted], [["rx", 3], ["tx", 2]]);
  // Both in one go of the server, the sent one told later.
  link.rings.get("rx")?.push({ t: 5, text: "e" });
  link.rings.get("tx")?.push({ t: 4, text: "d" });
  link.send(link.frame("rx", 3));
  link.send(link.frame("tx", 2));
  await wait();
  assert.deepEqual(texts(feed), ["a", "b", "c", "d", "e"]);
  feed.close();
  assert.equal(link.wanted.size, 0);
});

Deno.test("an open line shows, grows and becomes a line, once", async () => {
  const link = new FakeLink();
  const feed = feedOf(link);
  await wait();
  link.send(link.frame("rx", 1, "lines", "par"));
  await wait();
  assert.deepEqual(texts(feed), ["par"]);
  link.rings.get("rx")?.push({ t: 9, text: "partial" });
  link.send(link.frame("rx", 1));
  await wait();
  assert.deepEqual(texts(feed), ["partial"]);
  feed.close();
});

Deno.test("what a slow page missed is a row that says how many; no line comes twice after a reconnect", async () => {
  const link = new FakeLink();
  link.rings.set("rx", [{ t: 1, text: "1" }]);
  const feed = feedOf(link);
  await wait();
  link.rings.set("rx", Array.from({ length: 10 }, (_, i) => ({ t: i + 1, text: String(i + 1) })));
  link.tell({ type: "skipped", channel: "rx", count: 5, nextSeq: 7 });
  link.send(link.frame("rx", 7));
  await wait();
  assert.deepEqual(texts(feed), ["1", `<${MARK.loss}:5>`, "7", "8", "9", "10"]);
  link.rings.get("rx")?.push({ t: 11, text: "11" });
  link.hello(1000);
  await wait();
  assert.deepEqual(texts(feed).slice(-2), ["10", "11"]);
  assert.equal(link.wanted.get("rx"), 12);
  feed.close();
});

Deno.test("another run of the server: what was shown stays, and its lines follow", async () => {
  const link = new FakeLink();
  link.rings.set("rx", [{ t: 1, text: "old" }]);
  const feed = feedOf(link);
  await wait();
  link.rings.set("rx", [{ t: 1, text: "new" }]);
  link.hello(90_000);
  await wait();
  assert.deepEqual(texts(feed), ["old", `<${MARK.restart}:0>`, "new"]);
  assert.equal(feed.store.line(2)?.wall, 90_001);
  feed.close();
});

Deno.test("a clear leaves a mark, and lines up to it that come late are not shown", async () => {
  const link = new FakeLink();
  link.rings.set("rx", [{ t: 1, text: "1" }, { t: 2, text: "2" }]);
  const feed = feedOf(link);
  await wait();
  link.rings.get("rx")?.push({ t: 3, text: "3" }, { t: 4, text: "4" });
  link.send(link.frame("rx", 3));
  feed.clearThrough({ rx: 3, tx: 0 });
  await wait();
  assert.deepEqual(texts(feed), [`<${MARK.cleared}:0>`, "4"]);
  assert.equal(feed.hasOlder, false);
  feed.close();
});

Deno.test("two views of one channel follow it once, and neither loses a line when the other goes", async () => {
  const link = new FakeLink();
  link.rings.set("rx", [{ t: 1, text: "1" }]);
  const pane = feedOf(link);
  await wait();
  link.rings.get("rx")?.push({ t: 2, text: "2" });
  const centre = new LineFeed(link, { rx: "rx", tx: null, pane: null }, 1000);
  await wait();
  assert.equal(link.wanted.get("rx"), 2, "the first one's place was not moved");
  link.send(link.frame("rx", 2));
  await wait();
  assert.deepEqual(texts(pane), ["1", "2"]);
  assert.deepEqual(texts(centre), ["1", "2"]);
  centre.close();
  assert.ok(link.wanted.has("rx"));
  pane.close();
  assert.ok(!link.wanted.has("rx"));
});

Deno.test("older lines are read from the session log, page after page, to its beginning", async () => {
  const link = new FakeLink();
  link.rings.set("rx", [{ t: 100, text: "now" }]);
  const asked: object[] = [];
  link.older = (query) => {
    asked.push(query);
    return Promise.resolve(
      asked.length === 1
        ? { lines: [{ wallMs: 1050, dir: "tx", text: "b\\x00" }], cursor: "file@10" }
        : { lines: [{ wallMs: 1040, dir: "rx", text: "a" }], cursor: null },
    );
  };
  const feed = feedOf(link);
  await wait();
  assert.equal(await feed.older(), true);
  assert.equal(await feed.older(), true);
  assert.equal(await feed.older(), false);
  assert.deepEqual(texts(feed), ["a", "b\0", "now"]);
  assert.deepEqual(asked, [{ pane: "main", before: 100, count: 500, held: 1 }, {
    pane: "main",
    before: "file@10",
    count: 500,
  }]);
  assert.equal(feed.hasOlder, false);
  feed.close();
});
