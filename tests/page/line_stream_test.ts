import assert from "node:assert/strict";
import { LogHub } from "../../src/bench/log_hub.ts";
import { FLAG } from "../../src/core/line.ts";
import { type LineFrame, readLineFrame, type ServerMessage, WIRE_PARTIAL } from "../../src/core/page_protocol.ts";
import { ChannelIds, LineStream } from "../../src/page/line_stream.ts";

const RX = "serial:main:rx";

/** What a page would get. */
class Out {
  backlog = 0;
  readonly messages: ServerMessage[] = [];
  readonly frames: LineFrame[] = [];
  bytes = 0;
  send(message: ServerMessage): void {
    this.messages.push(message);
  }
  sendBytes(bytes: Uint8Array<ArrayBuffer>): void {
    this.bytes += bytes.length;
    const frame = readLineFrame(bytes);
    assert.ok(frame);
    this.frames.push(frame);
  }
  get texts(): string[] {
    return this.frames.flatMap((f) =>
      f.records.filter((r) => !(r.flags & WIRE_PARTIAL)).map((r) => `${r.seq} ${new TextDecoder().decode(r.bytes)}`)
    );
  }
  /** The open line after the last frame. */
  get partial(): string | undefined {
    const last = this.frames.at(-1)?.records.at(-1);
    return last && last.flags & WIRE_PARTIAL ? new TextDecoder().decode(last.bytes) : undefined;
  }
}

function rig(options: ConstructorParameters<typeof LogHub>[0] = {}) {
  // Each look at the stream is long after the one before, unless a test says otherwise.
  const clock = { now: 0, step: 50 };
  const hub = new LogHub({ clock: () => clock.now, ...options });
  const out = new Out();
  const rx = hub.stream(RX, "rx");
  const lines = new LineStream(hub, new ChannelIds(), out);
  const tick = () => {
    clock.now += clock.step;
    return lines.tick();
  };
  const push = (text: string) => rx.push(new TextEncoder().encode(text), hub.now(), "none");
  return { hub, out, lines, clock, tick, push, [Symbol.dispose]: () => hub.close() };
}

Deno.test("a page that follows a channel gets each line once, in order, with its flags", () => {
  using r = rig();
  r.push("before\n");
  r.lines.want(RX, 1);
  r.push("one\ntwo\r\n");
  r.tick();
  r.push("three\n");
  r.tick();
  r.tick();
  assert.deepEqual(r.out.texts, ["1 before", "2 one", "3 two", "4 three"]);
  assert.deepEqual(r.out.messages, [{ type: "following", channel: RX, channelId: 1, fromSeq: 1 }]);
  assert.equal(r.out.frames.length, 2, "nothing new, nothing sent");
  assert.equal((r.out.frames[0]?.records[0]?.flags ?? 0) & FLAG.dirMask, FLAG.dirRx);
});

Deno.test("tail begins with the next line", () => {
  using r = rig();
  r.push("old\n");
  r.lines.want(RX, "tail");
  r.push("new\n");
  r.tick();
  assert.deepEqual(r.out.texts, ["2 new"]);
});

Deno.test("the first line after a pause goes at once, what follows it goes together about thirty times a second", () => {
  using r = rig();
  r.lines.want(RX, "tail");
  r.clock.step = 1;
  r.push("first\n");
  r.tick();
  assert.equal(r.out.frames.length, 1);
  for (let ms = 1; ms < 100; ms++) {
    r.push(`line ${ms}\n`);
    r.tick();
  }
  assert.ok(r.out.frames.length >= 3 && r.out.frames.length <= 5, `${r.out.frames.length} frames in 100 ms`);
  r.clock.step = 50;
  r.tick();
  assert.equal(r.out.texts.length, 100);
});

Deno.test("a line without its end is shown, grows, and is replaced by the whole line", () => {
  using r = rig();
  r.lines.want(RX, "tail");
  r.push("log");
  r.tick();
  assert.equal(r.out.partial, "log");
  r.tick();
  assert.equal(r.out.frames.length, 1, "unchanged, not sent again");
  r.push("in: ");
  r.tick();
  assert.equal(r.out.partial, "login: ");
  r.push("\n");
  r.tick();
  assert.equal(r.out.partial, undefined);
  assert.deepEqual(r.out.texts, ["1 login: "]);
});

Deno.test("a page that does not read holds nothing up: what the ring let go is told as skipped, the rest comes", () => {
  using r = rig({ capOf: () => 4096 });
  r.lines.want(RX, "tail");
  r.push("first\n");
  r.tick();
  r.out.backlog = 2 * 1024 * 1024;
  for (let i = 0; i < 1000; i++) r.push(`line ${i}\n`);
  assert.equal(r.tick(), true, "says that more waits");
  assert.deepEqual(r.out.texts, ["1 first"]);
  r.out.backlog = 0;
  r.tick();
  const ring = r.hub.find(RX)?.ring;
  assert.ok(ring);
  const skipped = r.out.messages.find((m) => m.type === "skipped");
  assert.deepEqual(skipped, { type: "skipped", channel: RX, count: ring.firstSeq - 2, nextSeq: ring.firstSeq });
  assert.equal(r.out.texts.length, 1 + ring.lines);
  assert.equal(r.out.texts.at(-1), `1001 line 999`);
});

Deno.test("what was erased on purpose is no loss", () => {
  using r = rig();
  r.lines.want(RX, "tail");
  r.push("a\nb\n");
  r.hub.clear(RX);
  r.push("c\n");
  r.tick();
  assert.deepEqual(r.out.texts, ["3 c"]);
  assert.equal(r.out.messages.some((m) => m.type === "skipped"), false);
});

Deno.test("a flood in one channel is sent in bounded pieces and the other channel has its turn", () => {
  using r = rig();
  const text = `${"x".repeat(400)}\n`;
  r.lines.want(RX, "tail");
  r.lines.want("app", "tail");
  for (let i = 0; i < 1200; i++) r.push(text);
  r.hub.log("app", "info", "hello");
  r.tick();
  assert.ok(r.out.bytes < 700_000, `${r.out.bytes} bytes in one tick`);
  for (let i = 0; i < 3; i++) r.tick();
  const lines = r.out.frames.filter((f) => f.channelId === 1).reduce((n, f) => n + f.records.length, 0);
  assert.equal(lines, 1200);
  assert.ok(r.out.texts.includes("1 hello"));
});

Deno.test("a channel that is not there yet is said to be unknown, and followed when it comes", () => {
  using r = rig();
  r.lines.want("serial:extra-1:rx", "tail");
  assert.deepEqual(r.out.messages, [{ type: "unknown", channel: "serial:extra-1:rx" }]);
  r.tick();
  r.hub.log("serial:extra-1:rx", "info", "missed no more");
  r.tick();
  r.hub.log("serial:extra-1:rx", "info", "second");
  r.tick();
  assert.ok(r.out.messages.some((m) => m.type === "following" && m.channel === "serial:extra-1:rx"));
  assert.ok(r.out.texts.some((t) => t.endsWith("second")));
});

Deno.test("paging back gives what is held, from where it is held, in bounded answers", () => {
  using r = rig({ capOf: () => 65_536 });
  for (let i = 1; i <= 5000; i++) r.push(`n${i}\n`);
  const ring = r.hub.find(RX)?.ring;
  assert.ok(ring && ring.firstSeq > 1);
  assert.ok(r.lines.fetch(7, RX, 1, 100));
  const [frame] = r.out.frames;
  assert.equal(frame?.kind, "fetched");
  assert.equal(frame?.requestId, 7);
  assert.equal(frame?.firstSeq, ring.firstSeq);
  assert.equal(frame?.records.length, 100);
  assert.equal(new TextDecoder().decode(frame?.records[0]?.bytes), `n${ring.firstSeq}`);
  assert.ok(r.lines.fetch(8, RX, 4990, 100));
  assert.equal(r.out.frames[1]?.records.length, 11);
  assert.ok(r.lines.fetch(9, RX, 9999, 5));
  assert.deepEqual(r.out.frames[2]?.records, []);
  assert.equal(r.lines.fetch(10, "nope", 1, 1), false);
});

Deno.test("a page that takes its time is sent less at once, and a quiet channel comes through behind the flood", () => {
  using r = rig();
  const other = r.hub.stream("serial:extra-1:rx", "rx");
  r.lines.want(RX, "tail");
  r.lines.want("serial:extra-1:rx", "tail");
  const line = `${"x".repeat(79)}\n`;
  // It takes 20 kB each 50 ms; far more comes.
  let taken = 0;
  const ticks = (n: number) => {
    for (let i = 0; i < n; i++) {
      r.push(line.repeat(2000));
      taken = Math.min(r.out.bytes, taken + 20_000);
      r.out.backlog = r.out.bytes - taken;
      r.tick();
    }
  };
  ticks(200);
  assert.ok(r.out.backlog < 256 * 1024, `${r.out.backlog} bytes wait`);
  const { length } = r.out.frames;
  other.push(new TextEncoder().encode("echo\n"), r.hub.now(), "none");
  r.tick();
  assert.ok(r.out.frames.slice(length).some((f) => f.channelId === 2), "the echo went at once");
  // Quick again: as much as ever may wait.
  const before = r.out.bytes;
  for (let i = 0; i < 60; i++) {
    r.push(line.repeat(6000));
    r.out.backlog = 0;
    r.tick();
  }
  assert.ok(r.out.bytes - before > 60 * 200_000, `${r.out.bytes - before} bytes in 60 ticks`);
});

Deno.test("a page that asks for what is gone begins at the oldest line held, and nothing is told as lost", () => {
  using r = rig({ capOf: () => 4096 });
  for (let i = 1; i <= 1000; i++) r.push(`n${i}\n`);
  const ring = r.hub.find(RX)?.ring;
  assert.ok(ring);
  r.lines.want(RX, 1);
  r.tick();
  assert.deepEqual(r.out.messages, [{ type: "following", channel: RX, channelId: 1, fromSeq: ring.firstSeq }]);
  assert.equal(r.out.texts.length, ring.lines);
});

Deno.test("unwanted is no longer sent", () => {
  using r = rig();
  r.lines.want(RX, "tail");
  r.lines.unwant(RX);
  r.push("x\n");
  r.tick();
  assert.deepEqual(r.out.texts, []);
});
