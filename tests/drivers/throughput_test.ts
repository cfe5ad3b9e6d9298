import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import { randomBytes, readExactly, withPair } from "../rigs/pty.ts";

const MEGABYTE = 1_000_000;

Deno.test("10 MB of random bytes pass each way through a pair, byte for byte", () =>
  withPair(async (a, b) => {
    const there = randomBytes(10 * MEGABYTE);
    const back = randomBytes(10 * MEGABYTE);
    const [atB, atA] = await Promise.all([
      readExactly(b, there.length),
      readExactly(a, back.length),
      a.write(there),
      b.write(back),
    ]);
    assert.ok(Buffer.compare(atB, there) === 0, "a to b");
    assert.ok(Buffer.compare(atA, back) === 0, "b to a");
  }));
