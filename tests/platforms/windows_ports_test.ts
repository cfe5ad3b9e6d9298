import assert from "node:assert/strict";
import {
  deviceName,
  type DeviceRecord,
  fingerprintOf,
  portsFrom,
  usbIdentity,
} from "../../src/drivers/serial/windows/ports.ts";

// As SetupAPI gave them under Wine for tests/platforms/wine/devices.reg.
const RECORDED: DeviceRecord[] = [
  {
    portName: "LPT3",
    instanceIds: ["ACPI\\PNP0400\\4&1"],
    friendlyName: "Printer Port (LPT3)",
    description: "",
    manufacturer: "",
    busDescription: "",
    locationPath: "",
    locationInformation: "",
  },
  {
    portName: "COM5",
    instanceIds: ["USB\\VID_0403&PID_6001\\A50285BI"],
    friendlyName: "USB Serial Port (COM5)",
    description: "USB Serial Port",
    manufacturer: "FTDI",
    busDescription: "",
    locationPath: "",
    locationInformation: "Port_#0003.Hub_#0001",
  },
  {
    portName: "COM112",
    instanceIds: ["USB\\VID_303A&PID_1001&MI_00\\7&1234&0&0000"],
    friendlyName: "USB JTAG/serial debug unit",
    description: "",
    manufacturer: "Espressif",
    busDescription: "",
    locationPath: "",
    locationInformation: "",
  },
];

Deno.test("windows: ports are listed by number, with identity in lower case, and printers are not", () => {
  const serialComm = new Map([["COM21", "\\Device\\Serial20"], ["COM5", "\\Device\\Serial4"], ["LPT1", "x"]]);
  assert.deepEqual(portsFrom(RECORDED, serialComm), [
    {
      path: "COM5",
      kind: "usb",
      friendlyName: "USB Serial Port (COM5)",
      product: "",
      manufacturer: "FTDI",
      location: "Port_#0003.Hub_#0001",
      vendorId: "0403",
      productId: "6001",
      serialNumber: "A50285BI",
    },
    { path: "COM21", kind: "virtual", friendlyName: "COM21", product: "" },
    {
      path: "COM112",
      kind: "usb",
      friendlyName: "USB JTAG/serial debug unit (COM112)",
      product: "",
      manufacturer: "Espressif",
      vendorId: "303a",
      productId: "1001",
      interfaceNumber: "00",
    },
  ]);
});

Deno.test("windows: a composite device has the serial number of its parent and the interface of its own", () => {
  assert.deepEqual(
    usbIdentity([
      "USB\\VID_303A&PID_1001&MI_02\\7&2F1A&0&0002",
      "USB\\VID_303A&PID_1001\\F4:12:FA:00:11:22",
      "USB\\ROOT_HUB30\\4&1A2B&0&0",
    ]),
    { vendorId: "303a", productId: "1001", serialNumber: "F4:12:FA:00:11:22", interfaceNumber: "02" },
  );
});

Deno.test("windows: an FTDI port has the serial number of its chip, without the letter of the port", () => {
  assert.deepEqual(
    usbIdentity([
      "FTDIBUS\\VID_0403+PID_6001+A50285BIA\\0000",
      "USB\\VID_0403&PID_6001\\A50285BI",
      "USB\\ROOT_HUB30\\4",
    ]),
    { vendorId: "0403", productId: "6001", serialNumber: "A50285BI" },
  );
  // The second port of an FT2232, through its interface.
  assert.deepEqual(
    usbIdentity([
      "FTDIBUS\\VID_0403+PID_6010+FT1234B\\0000",
      "USB\\VID_0403&PID_6010&MI_01\\6&3B&0&0001",
      "USB\\VID_0403&PID_6010\\FT1234",
    ]),
    { vendorId: "0403", productId: "6010", serialNumber: "FT1234", interfaceNumber: "01" },
  );
  assert.deepEqual(
    usbIdentity(["FTDIBUS\\VID_0403+PID_6001+A50285BIA\\0000"]),
    { vendorId: "0403", productId: "6001", serialNumber: "A50285BI" },
  );
});

Deno.test("windows: an id that Windows made up is no serial number, and a hub's is not the device's", () => {
  assert.deepEqual(
    usbIdentity(["USB\\VID_1A86&PID_7523\\5&3A9C8C3&0&3", "USB\\VID_05E3&PID_0610\\HUBSERIAL"]),
    { vendorId: "1a86", productId: "7523" },
  );
  assert.equal(usbIdentity(["ACPI\\PNP0501\\1"]), undefined);
  assert.equal(usbIdentity([]), undefined);
});

Deno.test("windows: kinds tell hardware from ports that programs make, and every port has a name", () => {
  const port = (instanceId: string, rest: Partial<DeviceRecord> = {}) =>
    portsFrom([{ portName: "COM9", instanceIds: [instanceId], ...rest }], new Map())[0];
  assert.equal(port("ACPI\\PNP0501\\1")?.kind, "platform");
  assert.equal(port("PCI\\VEN_1415&DEV_C138\\3&1")?.kind, "platform");
  assert.equal(port("COM0COM\\PORT\\CNCA0")?.kind, "virtual");
  assert.equal(port("BTHENUM\\{00001101-0000-1000-8000-00805F9B34FB}_LOCALMFG&0000\\7&2C5")?.kind, "virtual");
  assert.equal(port("ACPI\\PNP0501\\1")?.friendlyName, "COM9");
  assert.equal(port("X\\Y", { busDescription: "CP2102", description: "Serial" })?.friendlyName, "CP2102 (COM9)");
  assert.equal(port("X\\Y", { busDescription: "CP2102" })?.product, "CP2102");
  assert.equal(
    port("X\\Y", { locationPath: "PCIROOT(0)#USB(3)", locationInformation: "P" })?.location,
    "PCIROOT(0)#USB(3)",
  );
});

Deno.test("windows: the fingerprint changes with the ports and not with their order", () => {
  const before = fingerprintOf(new Map([["COM10", "\\Device\\VCP1"], ["COM3", "\\Device\\VCP0"]]));
  assert.equal(before, fingerprintOf(new Map([["COM3", "\\Device\\VCP0"], ["COM10", "\\Device\\VCP1"]])));
  assert.notEqual(before, fingerprintOf(new Map([["COM3", "\\Device\\VCP0"]])));
  assert.notEqual(before, fingerprintOf(new Map([["COM3", "\\Device\\USBSER000"], ["COM10", "\\Device\\VCP1"]])));
});

Deno.test("windows: a port is opened by its name in any spelling, and nothing else is", () => {
  assert.equal(deviceName("COM3"), "COM3");
  assert.equal(deviceName("\\\\.\\COM10"), "COM10");
  assert.equal(deviceName("//./com7"), "com7");
  assert.equal(deviceName("CNCA0"), "CNCA0");
  for (const path of ["", "C:\\x.txt", "a/b", "COM3:", "..\\COM3", "\\\\server\\pipe", "\\\\.\\C:"]) {
    assert.equal(deviceName(path), undefined, path);
  }
});
