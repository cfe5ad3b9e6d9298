import assert from "node:assert/strict";
import fc from "fast-check";
import { FLAG } from "../../src/core/line.ts";
import { LineRing, MAX_RECORD_BYTES, RECORD_HEADER_BYTES } from "../../src/core/ring.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A ring against a list of lines that does the same in the plainest way. */
function checkAgainstModel(caps: fc.Arbitrary<number>, mostBytes: number, numRuns: number) {
  const action = fc.oneof(
    { weight: 40, arbitrary: fc.record({ size: fc.nat(mostBytes), level: fc.nat(3) }) },
    { weight: 4, arbitrary: fc.record({ trim: fc.nat(2 * mostBytes) }) },
    { weight: 1, arbitrary: fc.constant({ clear: true }) },
  );
  fc.assert(
    fc.property(
      caps,
      fc.array(action, { maxLength: 200, size: "max" }),
      (cap, actions) => {
        const ring = new LineRing(cap);
        let model: { seq: number; level: number; size: number; raw: number }[] = [];
        let seq = 0;
        let dropped = 0;
        const held = () => model.reduce((sum, line) => sum + RECORD_HEADER_BYTES + line.size, 0);
        const drop = () => {
          model.shift();
          dropped++;
        };
        for (const act of actions) {
          if ("size" in act) {
            const size = Math.min(act.size, cap - RECORD_HEADER_BYTES);
            while (model.length > 0 && held() + RECORD_HEADER_BYTES + size > cap) drop();
            model.push({ seq: ++seq, level: act.level, size, raw: act.size });
            const bytes = new Uint8Array(act.size + 7).fill(seq & 255);
            assert.equal(ring.append(seq / 3, act.level << 4, act.size, bytes, 3, 3 + act.size), seq);
          } else if ("trim" in act) {
            const before = held();
            while (model.length > 0 && before - held() < act.trim) drop();
            assert.equal(ring.trim(act.trim), before - held());
          } else {
            assert.equal(ring.clear(), model.length);
            model = [];
          }
          assert.equal(ring.lines, model.length);
          assert.equal(ring.bytes, held());
          assert.ok(ring.bytes <= cap);
          assert.equal(ring.dropped, dropped);
          assert.equal(ring.lastSeq, seq);
          assert.equal(ring.firstSeq, model[0]?.seq ?? seq + 1);
          assert.equal(ring.warnOrError, model.filter((line) => line.level >= 2).length);
        }
        const seen: number[] = [];
        ring.scan(0, Infinity, (at, t, flags, raw, bytes, from, to) => {
          const line = model[seen.length];
          seen.push(at);
          assert.ok(line);
          assert.deepEqual([at, t, raw, to - from], [line.seq, line.seq / 3, line.raw, line.size]);
          assert.equal(flags & FLAG.levelMask, line.level << 4);
          assert.equal((flags & FLAG.cut) !== 0, line.size < line.raw);
          assert.ok(bytes.subarray(from, to).every((b) => b === (line.seq & 255)));
          assert.deepEqual(ring.get(at)?.bytes, bytes.subarray(from, to));
        });
        assert.deepEqual(seen, model.map((line) => line.seq));
        assert.equal(ring.get(ring.firstSeq - 1), undefined);
        assert.equal(ring.get(seq + 1), undefined);
      },
    ),
    { numRuns },
  );
}

Deno.test("a ring keeps the newest lines, counts the lost ones and never holds more than its cap [C356]", () => {
  checkAgainstModel(fc.integer({ min: 16, max: 2000 }), 300, 100);
});

Deno.test("the same over many slabs with lines of all sizes", () => {
  checkAgainstModel(fc.integer({ min: 60_000, max: 300_000 }), 9000, 60);
});

Deno.test("a ring of many slabs finds every line that it holds, and its slabs are used again", () => {
  const ring = new LineRing(524_288);
  const line = bytesOf("a line of some forty bytes, like a device's");
  for (let i = 1; i <= 100_000; i++) ring.append(i, FLAG.dirRx, line.length, line);
  assert.equal(ring.lastSeq, 100_000);
  assert.equal(ring.dropped + ring.lines, 100_000);
  assert.ok(ring.bytes > 524_288 - 100);
  for (let seq = ring.firstSeq; seq <= ring.lastSeq; seq++) assert.equal(ring.get(seq)?.t, seq);
  let seen = 0;
  ring.scan(ring.firstSeq + 10, ring.firstSeq + 5000, () => ++seen < 777);
  assert.equal(seen, 777);
});

Deno.test("empty lines and the longest record fit a slab", () => {
  const ring = new LineRing(1_000_000);
  for (let i = 0; i < 10_000; i++) ring.append(i, 0, 0, new Uint8Array());
  assert.equal(ring.get(10_000)?.bytes.length, 0);
  const seq = ring.append(1, 0, 70_000, new Uint8Array(70_000).fill(7));
  const record = ring.get(seq);
  assert.equal(record?.bytes.length, MAX_RECORD_BYTES);
  assert.equal(record?.raw, 70_000);
  assert.equal((record?.flags ?? 0) & FLAG.cut, FLAG.cut);
});

Deno.test("what ended a line can be put right while it is held, and is ignored when it is gone", () => {
  const ring = new LineRing(100);
  const seq = ring.append(5, FLAG.eolCr | FLAG.dirRx, 1, bytesOf("a"));
  ring.setEol(seq, FLAG.eolCrLf);
  assert.equal(ring.get(seq)?.flags, FLAG.eolCrLf | FLAG.dirRx);
  ring.clear();
  ring.setEol(seq, FLAG.eolLf);
  ring.setEol(999, FLAG.eolLf);
  assert.equal(ring.lines, 0);
});
