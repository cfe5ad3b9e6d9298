import assert from "node:assert/strict";
import fc from "fast-check";
import type { LineAtOpen, LineSettings } from "../../src/drivers/serial/port.ts";
import { decodeDcb, encodeDcb, frameHint, newDcb } from "../../src/drivers/serial/windows/dcb.ts";
import { isFailure, kindOf, portError, win32OfStatus } from "../../src/drivers/serial/windows/errors.ts";
import { windowsDriver } from "../../src/drivers/serial/windows/driver.ts";
import { skipped } from "../rigs/skip.ts";

const hex = (bytes: Uint8Array) => bytes.toHex();
const fromHex = (text: string) => Uint8Array.fromHex(text.replaceAll(" ", ""));

const plain: LineSettings = { baudRate: 115_200, dataBits: 8, stopBits: 1, parity: "none" };

// DCBlength 28, 9600 baud, flags 0x3011 (binary, DTR on, RTS toggle), XonLim 2048, XoffLim 512, 8 N 1, XON, XOFF.
const REPORTED = fromHex("1c000000 80250000 11300000 0000 0008 0002 08 00 00 11 13 00 00 00 0000");

Deno.test("windows: the control block of a common setting has the bytes of the documented layout", () => {
  const dcb = encodeDcb(newDcb(), { ...plain, dtr: "high", rts: "high" });
  assert.equal(hex(dcb), hex(fromHex("1c000000 00c20100 11100000 0000 0008 0002 08 00 00 11 13 00 00 00 0000")));
  const slow = encodeDcb(newDcb(), {
    baudRate: 110,
    dataBits: 5,
    stopBits: 1.5,
    parity: "mark",
    dtr: "low",
    rts: "low",
  });
  assert.equal(hex(slow), hex(fromHex("1c000000 6e000000 03000000 0000 0008 0002 05 03 01 11 13 00 00 00 0000")));
});

Deno.test("windows: every frame survives the way into a control block and back", () => {
  fc.assert(fc.property(
    fc.record({
      baudRate: fc.integer({ min: 110, max: 4_000_000 }),
      dataBits: fc.constantFrom<LineSettings["dataBits"]>(5, 6, 7, 8),
      stopBits: fc.constantFrom<LineSettings["stopBits"]>(1, 1.5, 2),
      parity: fc.constantFrom<LineSettings["parity"]>("none", "even", "odd", "mark", "space"),
    }, { noNullPrototype: true }),
    fc.constantFrom<LineAtOpen>("high", "low"),
    fc.constantFrom<LineAtOpen>("high", "low"),
    fc.uint8Array({ minLength: 28, maxLength: 28 }),
    (settings, dtr, rts, before) => {
      const dcb = encodeDcb(before, { ...settings, dtr, rts });
      assert.deepEqual(decodeDcb(dcb), { settings, dtr: dtr === "high", rts: rts === "high" });
      // Whatever was set before: no flow control, and none of the flags that would change or drop bytes.
      assert.equal(new DataView(dcb.buffer).getUint32(8, true) & ~(0b11 | 0x30 | 0x3000), 0);
    },
  ));
});

Deno.test("windows: leave keeps each line as reported, and one under handshake stays up by hand", () => {
  const leave = (reported: Uint8Array) => {
    const flags = new DataView(encodeDcb(reported, { ...plain, dtr: "leave", rts: "leave" }).buffer).getUint32(8, true);
    return { dtr: (flags >>> 4) & 3, rts: (flags >>> 12) & 3 };
  };
  const withFlags = (flags: number) => {
    const dcb = newDcb();
    new DataView(dcb.buffer).setUint32(8, flags, true);
    return dcb;
  };
  assert.deepEqual(leave(withFlags(0x0001)), { dtr: 0, rts: 0 });
  assert.deepEqual(leave(withFlags(0x0011)), { dtr: 1, rts: 0 });
  assert.deepEqual(leave(withFlags(0x1001)), { dtr: 0, rts: 1 });
  assert.deepEqual(leave(withFlags(0x2021)), { dtr: 1, rts: 1 });
  assert.deepEqual(leave(REPORTED), { dtr: 1, rts: 1 });
});

Deno.test("windows: a block with values of no known frame reads as 8N1 rather than failing", () => {
  const odd = REPORTED.slice();
  odd.set([4, 9, 7], 18);
  assert.deepEqual(decodeDcb(odd).settings, { baudRate: 9600, dataBits: 8, stopBits: 1, parity: "none" });
});

Deno.test("windows: a refused frame is explained by the rule it breaks", () => {
  assert.match(frameHint({ ...plain, stopBits: 1.5 }), /5 data bits only/);
  assert.match(frameHint({ ...plain, dataBits: 5, stopBits: 2 }), /1 or 1\.5/);
  assert.match(frameHint(plain), /baud rate/);
});

Deno.test("windows: NTSTATUS becomes the Windows error that people can look up", () => {
  assert.equal(win32OfStatus(0xc000_0034), 2);
  assert.equal(win32OfStatus(0xc000_0022), 5);
  assert.equal(win32OfStatus(0xc000_0120), 995);
  // As a signed number, as FFI on another type might give it.
  assert.equal(win32OfStatus(0xc000_0120 | 0), 995);
  assert.equal(win32OfStatus(0xc007_04d5), 1237);
  assert.equal(win32OfStatus(0xc0ff_ffff), 317);
  assert.equal(isFailure(0), false);
  assert.equal(isFailure(0x103), false);
  assert.equal(isFailure(0x8000_0011), true);
  assert.equal(isFailure(0xc000_0001 | 0), true);
});

Deno.test("windows: the same number means different things at open, at a setting and at a read", () => {
  assert.equal(kindOf(2, "open"), "not_found");
  assert.equal(kindOf(5, "open"), "in_use");
  assert.equal(kindOf(32, "open"), "in_use");
  assert.equal(kindOf(1314, "open"), "no_permission");
  assert.equal(kindOf(433, "open"), "not_found");
  assert.equal(kindOf(121, "open"), "io");
  assert.equal(kindOf(1, "probe"), "not_a_port");
  assert.equal(kindOf(6, "probe"), "not_a_port");
  assert.equal(kindOf(1167, "probe"), "lost");
  assert.equal(kindOf(87, "settings"), "unsupported");
  assert.equal(kindOf(50, "lines"), "unsupported");
  for (const gone of [5, 6, 22, 31, 433, 995, 1167, 1617]) assert.equal(kindOf(gone, "io"), "lost", String(gone));
  for (const trouble of [23, 87, 121, 1450]) assert.equal(kindOf(trouble, "io"), "io", String(trouble));
});

Deno.test("windows: a failure names the port, what was tried and the number", () => {
  const error = portError("open", "COM7", 2, "open");
  assert.equal(error.message, "Cannot open COM7: there is no such port (Windows error 2)");
  assert.match(portError("open", "COM7", 5, "open").message, /COM7 is open in another program/);
  assert.match(portError("read from", "COM7", 4711, "io").message, /Windows error 4711/);
  assert.equal(portError("read from", "COM7", 1167, "io").disconnect, true);
});

Deno.test({
  name: "windows: the driver can be imported on another system and opens its DLLs only when it is made" +
    skipped(Deno.build.os === "windows", "needs PTYs"),
  ignore: Deno.build.os === "windows",
  fn: () => {
    assert.throws(() => windowsDriver());
  },
});
