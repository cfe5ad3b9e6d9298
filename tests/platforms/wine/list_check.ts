/** The list of ports from SetupAPI and the registry, with the devices of `devices.reg`: see `rig.sh`. */
import assert from "node:assert/strict";
import { readSerialComm } from "../../../src/drivers/serial/windows/registry.ts";
import { readDevices } from "../../../src/drivers/serial/windows/setup_api.ts";
import { win32 } from "../../../src/drivers/serial/windows/win32.ts";
import { driver, MORE_PORTS, report } from "./lib.ts";

Deno.test("ports are listed with names and identity, and printers are not", async () => {
  report("SERIALCOMM", [...readSerialComm(win32())]);
  report("SetupAPI", readDevices(win32()));
  const ports = await driver.list();
  for (const port of ports) report(port.path, port);
  const find = (path: string) => ports.find((port) => port.path === path);
  const ftdi = find("COM5");
  assert.equal(ftdi?.kind, "usb");
  assert.equal(ftdi?.friendlyName, "USB Serial Port (COM5)");
  assert.equal(ftdi?.vendorId, "0403");
  assert.equal(ftdi?.productId, "6001");
  assert.equal(ftdi?.serialNumber, "A50285BI");
  assert.equal(ftdi?.location, "Port_#0003.Hub_#0001");
  assert.equal(ftdi?.manufacturer, "FTDI");
  const composite = find("COM112");
  assert.equal(composite?.vendorId, "303a");
  assert.equal(composite?.friendlyName, "USB JTAG/serial debug unit (COM112)");
  assert.equal(composite?.interfaceNumber, "00");
  assert.equal(composite?.serialNumber, undefined);
  assert.equal(find("COM113")?.friendlyName, "Quectel USB Modem (COM113)");
  assert.equal(find("LPT3"), undefined);
  for (const path of MORE_PORTS) assert.equal(find(path)?.kind, "virtual");
  assert(ports.every((port) => port.friendlyName !== ""));
  const numbers = ports.map((port) => Number(port.path.slice(3)));
  assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b));
});

Deno.test("listing is quick", async () => {
  const start = performance.now();
  for (let i = 0; i < 20; i++) await driver.list();
  report("list, ms", +((performance.now() - start) / 20).toFixed(1));
  const again = performance.now();
  for (let i = 0; i < 200; i++) driver.fingerprint();
  report("fingerprint, ms", +((performance.now() - again) / 200).toFixed(2));
});
