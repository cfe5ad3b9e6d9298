import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { Pace } from "../../src/page/pace.ts";
import { until } from "../rigs/bench.ts";

Deno.test("quick while there is something to do, slow while there is not, quick again when it is woken", async () => {
  let runs = 0;
  let busy = true;
  const pace = new Pace({ busyMs: 2, idleMs: 60_000, run: () => (runs++, busy) });
  pace.start();
  await until(() => runs > 30, "it runs");
  busy = false;
  let before = -1;
  await until(async () => {
    before = runs;
    await delay(60);
    return runs === before;
  }, "it has slowed down");
  pace.wake();
  await until(() => runs >= before + 5, "it is quick again");
  await pace.stop();
  before = runs;
  pace.wake();
  await delay(20);
  assert.equal(runs, before);
});

Deno.test("a run that waits is never doubled, and the end waits for it", async () => {
  let inside = 0;
  let most = 0;
  let runs = 0;
  const pace = new Pace({
    busyMs: 1,
    idleMs: 5,
    run: async () => {
      pace.wake();
      most = Math.max(most, ++inside);
      await delay(5);
      inside--;
      runs++;
      return true;
    },
  });
  pace.start();
  pace.start();
  const waker = setInterval(() => pace.wake(), 1);
  await until(() => runs > 5, "it runs");
  clearInterval(waker);
  await pace.stop();
  assert.deepEqual([most, inside], [1, 0]);
});
