/**
 * Modem lines, break and frames: with `modem_shim.c` loaded into Wine, which gives PTYs these things and writes down
 * every change. It shows what the driver asks for, in which order, and that nothing else moves. See `rig.sh`.
 */
import assert from "node:assert/strict";
import { PortError } from "../../../src/drivers/serial/port.ts";
import { MORE_PORTS, open, report, withPort } from "./lib.ts";

const EVENTS = "shim/events";

/** What happened to the lines since the last call, without the name of the PTY. */
function events(): string[] {
  let text = "";
  try {
    text = Deno.readTextFileSync(EVENTS);
    Deno.writeTextFileSync(EVENTS, "");
  } catch {
    // Nothing happened yet.
  }
  return text.split("\n").filter((row) => row !== "").map((row) => row.replace(/^pts\d+ /, ""));
}

const path = MORE_PORTS[0] ?? "COM21";

Deno.test("at open the lines are set as asked, and opening by itself moves none", async () => {
  events();
  for (
    const [dtr, rts, expected] of [
      ["high", "high", { dtr: true, rts: true }],
      ["low", "low", { dtr: false, rts: false }],
      ["high", "low", { dtr: true, rts: false }],
      ["low", "high", { dtr: false, rts: true }],
    ] as const
  ) {
    await withPort((port) => {
      const { dtr: dtrNow, rts: rtsNow } = port.lines();
      assert.deepEqual({ dtr: dtrNow, rts: rtsNow }, expected);
      return Promise.resolve();
    }, { path, dtr, rts });
    const moved = events();
    report(`events of opening with DTR ${dtr}, RTS ${rts}`, moved);
    // One event at most for each line.
    assert(moved.length <= 2);
  }
});

Deno.test("leave keeps the lines at open", async () => {
  for (const [dtr, rts] of [["low", "high"], ["high", "low"]] as const) {
    await (await open({ path, dtr, rts })).close();
    const before = events();
    await withPort((port) => {
      const now = port.lines();
      report(`left after DTR ${dtr}, RTS ${rts}`, { before, now });
      assert.deepEqual([now.dtr, now.rts], [dtr === "high", rts === "high"]);
      assert.deepEqual(events(), []);
      return Promise.resolve();
    }, { path, dtr: "leave", rts: "leave" });
    events();
  }
});

Deno.test("only the named line moves; CTS, DSR, DCD and RI are read", async () => {
  await withPort((port) => {
    events();
    port.setLines({ dtr: true });
    assert.deepEqual(port.lines(), { dtr: true, rts: false, cts: false, dsr: true, dcd: true, ri: true });
    port.setLines({ rts: true });
    port.setLines({ dtr: false });
    assert.deepEqual(port.lines(), { dtr: false, rts: true, cts: true, dsr: false, dcd: false, ri: false });
    assert.deepEqual(events(), ["DTR=1 RTS=0", "DTR=1 RTS=1", "DTR=0 RTS=1"]);
    return Promise.resolve();
  }, { path, dtr: "low", rts: "low" });
});

Deno.test("a change of the baud rate and a break move no line", async () => {
  for (const dtr of ["low", "high"] as const) {
    await withPort((port) => {
      // Against what was set at open, so that a driver that sets the lines again would show.
      port.setLines({ dtr: dtr === "low", rts: true });
      events();
      port.setBaudRate(9600);
      port.setBaudRate(250_000);
      assert.deepEqual(events(), []);
      port.setBreak(true);
      port.setBreak(false);
      assert.deepEqual(events(), ["break=1", "break=0"]);
      return Promise.resolve();
    }, { path, dtr, rts: "low" });
  }
});

Deno.test("frames reach the system and are read back", async () => {
  for (
    const frame of [
      { dataBits: 7, parity: "even", stopBits: 1 },
      { dataBits: 7, parity: "odd", stopBits: 2 },
      { dataBits: 8, parity: "mark", stopBits: 1 },
      { dataBits: 8, parity: "space", stopBits: 2 },
      { dataBits: 5, parity: "none", stopBits: 1 },
      { dataBits: 5, parity: "none", stopBits: 1.5 },
      { dataBits: 6, parity: "even", stopBits: 1 },
    ] as const
  ) {
    try {
      await withPort((port) => {
        const { baudRate: _, ...back } = port.settings();
        report(JSON.stringify(frame), back);
        if (frame.stopBits !== 1.5) assert.deepEqual(back, frame);
        return Promise.resolve();
      }, { path, ...frame });
    } catch (error) {
      if (!(error instanceof PortError) || frame.stopBits !== 1.5) throw error;
      assert.equal(error.kind, "unsupported");
      report(JSON.stringify(frame), error.message);
    }
  }
});
