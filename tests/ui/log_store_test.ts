import assert from "node:assert/strict";
import fc from "fast-check";
import { FLAG } from "../../src/core/line.ts";
import { CHAN, LineStore, MARK, type NewLine } from "../../ui/log/line_store.ts";
import { RowSet } from "../../ui/log/row_set.ts";

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const line = (chan: 0 | 1, seq: number, wall: number, text: string): NewLine => ({
  chan,
  wall,
  seq,
  flags: chan === CHAN.rx ? FLAG.dirRx : FLAG.dirTx,
  raw: text.length,
  bytes: encode(text),
});

function filled(rows: number, options = {}): LineStore {
  const store = new LineStore(options);
  for (let i = 1; i <= rows; i++) store.append(line(CHAN.rx, i, 1000 + i, `line ${i}`));
  return store;
}

Deno.test("every line that was put in comes out as it was, by row and by seq", () => {
  const store = filled(5000);
  assert.equal(store.endRow, 5000);
  for (const row of [0, 1, 511, 512, 1023, 1024, 4999]) {
    const found = store.line(row);
    assert.equal(found && decode(found.bytes), `line ${row + 1}`);
    assert.equal(found?.seq, row + 1);
    assert.equal(found?.num, row + 1);
    assert.equal(store.rowOf(CHAN.rx, row + 1), row);
  }
  assert.equal(store.line(5000), undefined);
  assert.equal(store.line(-1), undefined);
  assert.equal(store.rowOf(CHAN.rx, 5001), -1);
});

Deno.test("received and sent lines are merged by time; a line that began earlier goes where it began", () => {
  const store = new LineStore();
  const moved: number[] = [];
  store.onInsert = (at) => moved.push(at);
  store.append(line(CHAN.rx, 1, 10, "a"));
  store.append(line(CHAN.tx, 1, 20, "sent"));
  store.append(line(CHAN.tx, 2, 30, "sent again"));
  // It began before both, and ended after them.
  store.append(line(CHAN.rx, 2, 15, "prompt"));
  store.append(line(CHAN.rx, 3, 40, "b"));
  const texts = [0, 1, 2, 3, 4].map((row) => decode(store.line(row)?.bytes ?? new Uint8Array()));
  assert.deepEqual(texts, ["a", "prompt", "sent", "sent again", "b"]);
  assert.deepEqual(moved, [1]);
});

Deno.test("memory is bounded: what is far from the view gives its bytes back, and is whole again when it is read", () => {
  const store = filled(60_000, { budget: 500_000 });
  store.trim(59_900, 60_000);
  assert.ok(store.bytes <= 600_000, String(store.bytes));
  assert.equal(store.firstRow, 0);
  assert.equal(store.line(100), undefined);
  assert.equal(decode(store.line(59_999)?.bytes ?? new Uint8Array()), "line 60000");
  const chunk = store.chunks[store.indexOf(100)];
  assert.ok(chunk && chunk.columns === undefined && chunk.source && "beforeWall" in chunk.source);
  // Between two milliseconds, so that the session log gives back just these.
  assert.equal(chunk.source.beforeWall, 1000 + chunk.endRow + 1);
  store.restore(
    chunk,
    Array.from({ length: chunk.count }, (_, i) => {
      const n = chunk.firstRow + i + 1;
      return { ...line(CHAN.rx, 0, 1000 + n, `line ${n}`) };
    }),
  );
  assert.equal(decode(store.line(100)?.bytes ?? new Uint8Array()), "line 101");
  assert.equal(store.line(100)?.seq, 101);
  assert.equal(store.line(100)?.num, 101);
});

Deno.test("lines that are not in the session log any more leave rows that say so, and no row moves", () => {
  const store = filled(20_000, { budget: 1 });
  store.trim(19_999, 19_999);
  const chunk = store.chunks[0];
  assert.ok(chunk && !chunk.columns);
  const { count } = chunk;
  store.restore(chunk, [line(CHAN.rx, 0, 1, "the only one")]);
  assert.equal(chunk.count, count);
  assert.equal(store.line(0)?.chan, CHAN.mark);
  assert.equal(store.line(0)?.seq, MARK.gone);
  assert.equal(decode(store.line(count - 1)?.bytes ?? new Uint8Array()), "the only one");
  assert.equal(decode(store.line(19_999)?.bytes ?? new Uint8Array()), "line 20000");
});

Deno.test("without a session log the oldest lines are forgotten", () => {
  const store = filled(60_000, { budget: 500_000, canReload: false });
  store.trim(59_900, 60_000);
  assert.ok(store.firstRow > 0);
  assert.equal(decode(store.line(store.firstRow)?.bytes ?? new Uint8Array()), `line ${store.firstRow + 1}`);
});

Deno.test("older lines come before the first row and get rows below zero", () => {
  const store = filled(10);
  store.prepend([line(CHAN.rx, 0, 1, "old 1"), line(CHAN.tx, 0, 2, "old 2")], { cursor: "x@1" });
  assert.equal(store.firstRow, -2);
  assert.equal(decode(store.line(-2)?.bytes ?? new Uint8Array()), "old 1");
  assert.equal(store.line(-1)?.chan, CHAN.tx);
  assert.equal(decode(store.line(0)?.bytes ?? new Uint8Array()), "line 1");
});

Deno.test("a clear takes what it names and nothing after it", () => {
  const store = new LineStore();
  for (let i = 1; i <= 2000; i++) store.append(line(CHAN.rx, i, i, `rx ${i}`));
  store.append(line(CHAN.tx, 1, 2001, "tx 1"));
  store.append(line(CHAN.rx, 2001, 2002, "rx 2001"));
  assert.equal(store.clearThrough({ rx: 2000, tx: 1 }), true);
  assert.equal(store.firstRow, 2001);
  assert.equal(store.line(2000), undefined);
  assert.equal(decode(store.line(2001)?.bytes ?? new Uint8Array()), "rx 2001");
  assert.equal(store.clearThrough({ rx: 2000, tx: 1 }), false);
});

Deno.test("a restart of the server begins another count of seqs", () => {
  const store = filled(10);
  store.restart(5000);
  store.append(line(CHAN.rx, 1, 6000, "new 1"));
  assert.equal(store.line(10)?.seq, MARK.restart);
  const row = store.rowOf(CHAN.rx, 1);
  assert.equal(decode(store.line(row)?.bytes ?? new Uint8Array()), "new 1");
  store.clearThrough({ rx: 1, tx: 0 });
  assert.equal(store.firstRow, store.endRow);
});

Deno.test("a colour left open is the start of the next line of its direction, and of no other [SR08]", () => {
  const store = new LineStore();
  const put = (chan: 0 | 1, seq: number, text: string) =>
    store.append({ ...line(chan, seq, seq, text), flags: FLAG.control | (chan === CHAN.rx ? FLAG.dirRx : FLAG.dirTx) });
  put(CHAN.rx, 1, "\x1b[35mmagenta");
  put(CHAN.tx, 2, "sent");
  put(CHAN.rx, 3, "still\x1b[0m");
  put(CHAN.rx, 4, "plain");
  assert.equal(store.line(0)?.style, 0);
  assert.equal(store.line(1)?.style, 0);
  assert.notEqual(store.line(2)?.style, 0);
  assert.equal(store.line(3)?.style, 0);
});

Deno.test("a set of rows is what a plain filter gives, whatever comes and goes", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ rx: fc.boolean(), keep: fc.boolean(), late: fc.nat(3) }), { maxLength: 1500 }),
      fc.nat(1500),
      (items, clearTo) => {
        const store = new LineStore();
        const set = new RowSet(store);
        set.setTest((l) => l.chan === CHAN.mark || decode(l.bytes) === "keep");
        const seqs = [0, 0];
        items.forEach((item, i) => {
          const chan = item.rx ? CHAN.rx : CHAN.tx;
          const seq = seqs[chan] = (seqs[chan] ?? 0) + 1;
          store.append(line(chan, seq, i * 2 - item.late, item.keep ? "keep" : "drop"));
          if (i % 97 === 0) set.sync();
        });
        store.clearThrough({ rx: Math.min(clearTo, seqs[0] ?? 0), tx: 0 });
        set.sync();
        const wanted: number[] = [];
        for (let row = store.firstRow; row < store.endRow; row++) {
          if (decode(store.line(row)?.bytes ?? new Uint8Array()) === "keep") wanted.push(row);
        }
        const got = Array.from({ length: set.total }, (_, i) => set.at(i));
        assert.deepEqual(got, wanted);
        wanted.forEach((row, i) => assert.equal(set.indexOf(row), i));
        assert.equal(set.at(set.total), undefined);
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("filtering is done in slices, the newest chunk first", () => {
  const store = filled(20_000);
  const set = new RowSet(store);
  set.setTest((l) => l.seq % 2 === 0);
  let now = 0;
  set.sync(3, () => now++);
  assert.equal(set.pending, true);
  assert.equal(set.at(set.total - 1), 19_999);
  while (set.pending) set.sync(now + 5, () => now++);
  assert.equal(set.total, 10_000);
  assert.equal(set.at(0), 1);
});

Deno.test("unfinished lines are the last rows, and become the next ones", () => {
  const store = filled(3);
  const set = new RowSet(store);
  store.setPartials([line(CHAN.rx, 4, 2000, "par")]);
  set.sync();
  assert.equal(set.total, 4);
  assert.equal(set.at(3), 3);
  assert.equal(store.line(3)?.partial, true);
  store.append(line(CHAN.rx, 4, 2000, "partial"));
  store.setPartials([]);
  set.sync();
  assert.equal(set.total, 4);
  assert.equal(store.line(3)?.partial, false);
});
