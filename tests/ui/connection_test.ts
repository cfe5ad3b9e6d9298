import assert from "node:assert/strict";
import { FrameWriter, readChunk } from "../../src/core/page_protocol.ts";
import { CallError, Connection, type SocketLike } from "../../ui/lib/connection.ts";

/** The server's end of a socket. */
class FakeSocket implements SocketLike {
  binaryType = "";
  readyState = 1;
  bufferedAmount = 0;
  readonly sent: (Record<string, unknown> | Uint8Array)[] = [];
  readonly #closed: (() => void)[] = [];
  readonly #heard: ((event: { data: unknown }) => void)[] = [];
  addEventListener(type: "close", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close" | "message", listener: (event: { data: unknown }) => void): void {
    if (type === "close") this.#closed.push(() => listener({ data: undefined }));
    else this.#heard.push(listener);
  }
  send(data: string | ArrayBufferView<ArrayBuffer>): void {
    this.sent.push(
      typeof data === "string" ? JSON.parse(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
    );
  }
  close(): void {
    for (const listener of this.#closed) listener();
  }
  say(message: unknown): void {
    for (const listener of this.#heard) listener({ data: JSON.stringify(message) });
  }
  sayBytes(bytes: Uint8Array<ArrayBuffer>): void {
    for (const listener of this.#heard) listener({ data: bytes.buffer });
  }
  hello(): void {
    this.say({ type: "hello", version: "0", pageId: 1, epochMs: 0, now: 0, state: {} });
  }
  last(): Record<string, unknown> {
    const one = this.sent.at(-1);
    assert.ok(one && !(one instanceof Uint8Array));
    return one;
  }
}

function connected(): { sockets: FakeSocket[]; connection: Connection; socket: FakeSocket } {
  const sockets: FakeSocket[] = [];
  const connection = new Connection({
    open: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket;
    },
    delays: [5],
  });
  connection.connect();
  const socket = sockets[0];
  assert.ok(socket);
  socket.hello();
  return { sockets, connection, socket };
}

const kindOf = (connection: Connection): string => connection.link.value.kind;

const until = async (what: () => boolean): Promise<void> => {
  for (let i = 0; i < 400 && !what(); i++) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(what());
};

Deno.test("answers go to their requests, whatever their order", async () => {
  const { connection, socket } = connected();
  const first = connection.call("app_info", {});
  const second = connection.call("mcp_limits", {});
  socket.say({ type: "answer", id: 2, ok: true, output: { n: 2 }, text: "two" });
  socket.say({ type: "answer", id: 1, ok: true, output: { n: 1 }, text: "one" });
  assert.equal((await first).text, "one");
  assert.equal((await second).text, "two");
  connection.close();
});

Deno.test("a refusal becomes an error with its reason and hint", async () => {
  const { connection, socket } = connected();
  const call = connection.call("serial_open", { pane: "main" });
  socket.say({
    type: "answer",
    id: 1,
    ok: false,
    error: { code: -32006, message: "busy", reason: "in_use", hint: "close it" },
  });
  await assert.rejects(
    call,
    (error) => error instanceof CallError && error.reason === "in_use" && error.hint === "close it",
  );
  connection.close();
});

Deno.test("when the server goes, what waits ends, and the page comes back by itself and says so", async () => {
  const { connection, socket, sockets } = connected();
  assert.equal(kindOf(connection), "online");
  const call = connection.call("app_info", {});
  socket.close();
  await assert.rejects(call, (error) => error instanceof CallError && error.reason === "server_gone");
  assert.equal(kindOf(connection), "gone");
  await assert.rejects(connection.call("app_info", {}), /gone/);
  await until(() => sockets.length === 2);
  let hellos = 0;
  connection.on("hello", () => hellos++);
  sockets[1]?.hello();
  assert.equal(kindOf(connection), "online");
  assert.equal(hellos, 1);
  connection.close();
});

Deno.test("a cancelled request is told to the server, whose answer ends it", async () => {
  const { connection, socket } = connected();
  const control = new AbortController();
  const call = connection.call("serial_send", { data: "x" }, { signal: control.signal });
  control.abort();
  assert.deepEqual(socket.last(), { type: "cancel", id: 1 });
  socket.say({ type: "answer", id: 1, ok: false, error: { code: -32006, message: "canceled", reason: "canceled" } });
  await assert.rejects(call, CallError);
  connection.close();
});

Deno.test("a file goes in order, not more than 256 KiB ahead, and ends with an empty chunk [SO08]", async () => {
  const { connection, socket } = connected();
  const data = new Uint8Array(500_000).map((_, i) => i % 251);
  const seen: number[] = [];
  const sending = connection.sendFile({ pane: "main", name: "a.bin", size: data.length }, new Blob([data]), {
    onProgress: (done) => seen.push(done),
  });
  const chunks = () =>
    socket.sent.filter((one) => one instanceof Uint8Array).map((one) =>
      readChunk(new Uint8Array(one as Uint8Array).buffer)
    );
  await until(() => chunks().length === 4);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(chunks().length, 4, "it waits for progress");
  for (let done = 65_536; done <= 524_288; done += 65_536) {
    socket.say({ type: "progress", id: 1, done: Math.min(done, data.length), total: data.length });
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await until(() => chunks().at(-1)?.bytes.length === 0);
  const bytes = chunks().flatMap((c) => Array.from(c?.bytes ?? []));
  assert.deepEqual(new Uint8Array(bytes), data);
  socket.say({ type: "answer", id: 1, ok: true, output: { bytes: data.length }, text: "" });
  assert.deepEqual(await sending, { bytes: data.length });
  assert.ok(seen.length > 3);
  connection.close();
});

Deno.test("line frames reach their listeners, and what was taken is told", () => {
  const { connection, socket } = connected();
  const got: string[] = [];
  connection.onFrame((frame) =>
    got.push(...frame.records.map((r) => `${frame.channelId}:${r.seq}:${new TextDecoder().decode(r.bytes)}`))
  );
  const writer = new FrameWriter();
  writer.start("lines", 3, 10);
  writer.add(1, 0, 2, new TextEncoder().encode("hi"));
  writer.add(2, 0, 70_000, new Uint8Array(65_000).fill(65));
  socket.sayBytes(writer.finish());
  assert.equal(got[0], "3:10:hi");
  assert.equal(got.length, 2);
  writer.start("lines", 3, 12);
  writer.add(3, 0, 1000, new Uint8Array(1000));
  socket.sayBytes(writer.finish());
  assert.equal(socket.last().type, "taken");
  connection.close();
});

Deno.test("a fetch is answered by its own frame", async () => {
  const { connection, socket } = connected();
  const fetched = connection.fetch("serial:main:rx", 5, 10);
  const writer = new FrameWriter();
  writer.start("fetched", 1, 5, 1);
  writer.add(1, 0, 1, new Uint8Array([66]));
  socket.sayBytes(writer.finish());
  assert.equal((await fetched).records[0]?.seq, 5);
  connection.close();
});
