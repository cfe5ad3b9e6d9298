import assert from "node:assert/strict";
import fc from "fast-check";
import {
  FrameWriter,
  readChunk,
  readLineFrame,
  RECORD_HEADER_BYTES,
  writeChunk,
} from "../../src/core/page_protocol.ts";
import { actionInputs, pageMessage } from "../../src/core/page_schema.ts";

const record = fc.record({
  t: fc.double({ noNaN: true, noDefaultInfinity: true }),
  flags: fc.integer({ min: 0, max: 0xffff }),
  raw: fc.integer({ min: 0, max: 0xffff_ffff }),
  bytes: fc.uint8Array({ maxLength: 300 }),
});

Deno.test("a frame of lines comes out as it went in", () => {
  const writer = new FrameWriter(64);
  fc.assert(fc.property(
    fc.array(record, { maxLength: 30 }),
    fc.constantFrom("lines" as const, "fetched" as const),
    fc.integer({ min: 0, max: 0xffff }),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 100 }),
    fc.integer({ min: 0, max: 0xffff_ffff }),
    (records, kind, channelId, firstSeq, requestId) => {
      writer.start(kind, channelId, firstSeq, requestId);
      for (const r of records) writer.add(r.t, r.flags, r.raw, r.bytes);
      const frame = readLineFrame(writer.finish());
      assert.deepEqual(frame && { ...frame, records: frame.records.map((r) => ({ ...r, bytes: [...r.bytes] })) }, {
        kind,
        channelId,
        firstSeq,
        requestId,
        records: records.map((r, i) => ({ ...r, seq: firstSeq + i, bytes: [...r.bytes] })),
      });
    },
  ));
});

Deno.test("a frame that is cut anywhere is refused, never read past its end", () => {
  const writer = new FrameWriter();
  writer.start("lines", 3, 10);
  writer.add(1.5, 4, 5, new TextEncoder().encode("hello"));
  writer.add(2.5, 4, 0, new Uint8Array(0));
  const whole = writer.finish();
  assert.equal(readLineFrame(whole)?.records.length, 2);
  for (let n = 0; n < whole.length; n++) assert.equal(readLineFrame(whole.slice(0, n)), undefined, `${n} bytes`);
  assert.equal(whole.length, 20 + 2 * RECORD_HEADER_BYTES + 5);
});

Deno.test("a frame that is sent is not changed by the next one", () => {
  const writer = new FrameWriter();
  writer.start("lines", 1, 1);
  writer.add(0, 0, 1, Uint8Array.of(65));
  const first = writer.finish();
  writer.start("lines", 1, 2);
  writer.add(0, 0, 1, Uint8Array.of(66));
  writer.finish();
  assert.equal(readLineFrame(first)?.records[0]?.bytes[0], 65);
});

Deno.test("parts of a file keep their request and their bytes, and the end is an empty one", () => {
  for (const bytes of [Uint8Array.of(1, 2, 3), new Uint8Array(0), new Uint8Array(65_536).fill(7)]) {
    const chunk = readChunk(writeChunk(4_000_000_000, bytes).buffer);
    assert.equal(chunk?.requestId, 4_000_000_000);
    assert.deepEqual(chunk?.bytes, bytes);
  }
  assert.equal(readChunk(new Uint8Array([3, 0, 0]).buffer), undefined);
  assert.equal(readChunk(new Uint8Array(8).buffer), undefined);
});

Deno.test("messages with unknown fields or values are refused", () => {
  const good = { type: "call", id: 1, tool: "app_info", args: {} };
  assert.ok(pageMessage.safeParse(good).success);
  for (
    const wrong of [{ ...good, more: 1 }, { ...good, id: 0 }, { ...good, id: 1.5 }, { type: "nope" }, null, [good]]
  ) {
    assert.equal(pageMessage.safeParse(wrong).success, false, JSON.stringify(wrong));
  }
});

Deno.test("pacing, breaks and page settings have bounds", () => {
  const ok = (name: keyof typeof actionInputs, args: unknown) => actionInputs[name].safeParse(args).success;
  assert.ok(ok("pane.setPacing", { pane: "main", charMs: 0, lineMs: 5000 }));
  assert.equal(ok("pane.setPacing", { pane: "main", charMs: -1, lineMs: 0 }), false);
  assert.equal(ok("pane.sendBreak", { pane: "main", ms: 5001 }), false);
  assert.ok(ok("ui.save", { key: "layout", value: { split: [1, 2] } }));
  assert.equal(ok("ui.save", { key: "layout", value: "x".repeat(20_000) }), false);
  assert.equal(ok("ui.save", { key: "__proto__", value: 1 }), false);
  assert.equal(ok("log.saveAs", { channel: "app", pane: "main" }), false);
  assert.equal(ok("log.saveAs", {}), false);
});
