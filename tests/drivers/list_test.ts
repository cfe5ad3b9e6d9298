import assert from "node:assert/strict";
import { unixDriver } from "../../src/drivers/serial/unix/driver.ts";
import { listDarwin } from "../../src/drivers/serial/unix/list_darwin.ts";

/** A small /sys and /dev, laid out as the kernel does. */
class FakeTree {
  readonly folder = Deno.makeTempDirSync();
  readonly sys = `${this.folder}/sys`;
  readonly dev = `${this.folder}/dev`;

  constructor() {
    Deno.mkdirSync(`${this.sys}/class/tty`, { recursive: true });
    Deno.mkdirSync(this.dev);
    for (const bus of ["usb", "usb-serial", "serial-base"]) this.#folder(`${this.sys}/bus/${bus}`);
  }

  #folder(path: string): void {
    Deno.mkdirSync(path, { recursive: true });
  }

  #attributes(folder: string, values: Record<string, string>): void {
    this.#folder(folder);
    for (const [name, value] of Object.entries(values)) Deno.writeTextFileSync(`${folder}/${name}`, `${value}\n`);
  }

  /** A tty below `device`, or one without a device. */
  tty(name: string, device: string | undefined, values: Record<string, string> = {}): void {
    const place = `${device ?? `${this.sys}/devices/virtual`}/tty/${name}`;
    this.#attributes(place, values);
    if (device) Deno.symlinkSync(device, `${place}/device`);
    Deno.symlinkSync(place, `${this.sys}/class/tty/${name}`);
  }

  unplug(name: string): void {
    Deno.removeSync(`${this.sys}/class/tty/${name}`);
  }

  /** A USB device with one interface; gives the folder of the interface. */
  usb(place: string, values: Record<string, string>): string {
    const device = `${this.sys}/devices/pci0000:00/usb1/${place}`;
    this.#attributes(device, values);
    const face = `${device}/${place}:1.0`;
    this.#attributes(face, { bInterfaceNumber: "00" });
    Deno.symlinkSync(`${this.sys}/bus/usb`, `${face}/subsystem`);
    return face;
  }

  /** The node that usb-serial puts below the interface. */
  usbSerial(face: string, name: string, portNumber: string): string {
    const node = `${face}/${name}`;
    this.#attributes(node, { port_number: portNumber });
    Deno.symlinkSync(`${this.sys}/bus/usb-serial`, `${node}/subsystem`);
    return node;
  }

  platform(name: string): string {
    const device = `${this.sys}/devices/platform/${name}`;
    this.#folder(device);
    Deno.symlinkSync(`${this.sys}/bus/serial-base`, `${device}/subsystem`);
    return device;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }
}

Deno.test("ports are listed from sysfs with product, VID, PID, serial number and place", async () => {
  using tree = new FakeTree();
  const driver = unixDriver(tree);
  const ftdi = tree.usb("1-2.3", {
    idVendor: "0403",
    idProduct: "6001",
    serial: "A50285BI",
    manufacturer: "FTDI",
    product: "FT232R USB UART",
  });
  tree.tty("ttyUSB10", tree.usbSerial(ftdi, "ttyUSB10", "0"));
  const four = tree.usb("1-4", { idVendor: "9710", idProduct: "7840" });
  tree.tty("ttyUSB2", tree.usbSerial(four, "ttyUSB2", "0"));
  tree.tty("ttyUSB3", tree.usbSerial(four, "ttyUSB3", "1"));
  tree.tty("ttyACM0", tree.usb("1-1", { idVendor: "2E8A", idProduct: "0005", product: "Board" }));
  tree.tty("ttyS0", tree.platform("serial8250:0"), { type: "4" });
  tree.tty("ttyS1", tree.platform("serial8250:1"), { type: "0" });
  tree.tty("tty1", undefined);
  tree.tty("console", undefined);
  tree.tty("ptmx", undefined);

  const at = (name: string) => `${tree.dev}/${name}`;
  assert.deepEqual(await driver.list(), [
    {
      path: at("ttyACM0"),
      kind: "usb",
      friendlyName: `Board (${at("ttyACM0")})`,
      product: "Board",
      vendorId: "2e8a",
      productId: "0005",
      location: "1-1:1.0",
      interfaceNumber: "00",
    },
    { path: at("ttyS0"), kind: "platform", friendlyName: `Serial port (${at("ttyS0")})`, product: "" },
    {
      path: at("ttyUSB2"),
      kind: "usb",
      friendlyName: `USB serial port (${at("ttyUSB2")})`,
      product: "",
      vendorId: "9710",
      productId: "7840",
      location: "1-4:1.0",
      interfaceNumber: "00",
    },
    {
      path: at("ttyUSB3"),
      kind: "usb",
      friendlyName: `USB serial port (${at("ttyUSB3")})`,
      product: "",
      vendorId: "9710",
      productId: "7840",
      location: "1-4:1.0/1",
      interfaceNumber: "00",
    },
    {
      path: at("ttyUSB10"),
      kind: "usb",
      friendlyName: `FT232R USB UART (${at("ttyUSB10")})`,
      product: "FT232R USB UART",
      vendorId: "0403",
      productId: "6001",
      serialNumber: "A50285BI",
      manufacturer: "FTDI",
      location: "1-2.3:1.0",
      interfaceNumber: "00",
    },
  ]);
});

Deno.test("the fingerprint changes with every plugging and unplugging, also under the same name", () => {
  using tree = new FakeTree();
  const driver = unixDriver(tree);
  const empty = driver.fingerprint();
  const face = tree.usb("1-1", { idVendor: "0403" });
  tree.tty("ttyUSB0", face);
  const plugged = driver.fingerprint();
  assert.notEqual(plugged, empty);
  assert.equal(driver.fingerprint(), plugged);
  tree.tty("tty63", undefined);
  assert.equal(driver.fingerprint(), plugged, "a console is no port");
  // Replaced by another entry while the old one is still there, so that it cannot get the same inode.
  Deno.symlinkSync(`${face}/tty/ttyUSB0`, `${tree.folder}/new`);
  Deno.renameSync(`${tree.folder}/new`, `${tree.sys}/class/tty/ttyUSB0`);
  assert.notEqual(driver.fingerprint(), plugged, "the entry is a new one");
  tree.unplug("ttyUSB0");
  assert.equal(driver.fingerprint(), empty);
});

Deno.test("a system without sysfs has no ports and no error", async () => {
  const driver = unixDriver({ sys: "/nowhere", dev: "/nowhere" });
  assert.deepEqual(await driver.list(), []);
  assert.equal(driver.fingerprint(), "");
});

Deno.test("macOS ports are the call-out names", () => {
  const dev = Deno.makeTempDirSync();
  for (const name of ["cu.usbserial-A50285BI", "tty.usbserial-A50285BI", "cu.Bluetooth-Incoming-Port", "null"]) {
    Deno.writeTextFileSync(`${dev}/${name}`, "");
  }
  assert.deepEqual(listDarwin(dev), [
    {
      path: `${dev}/cu.Bluetooth-Incoming-Port`,
      kind: "platform",
      product: "",
      friendlyName: `Bluetooth-Incoming-Port (${dev}/cu.Bluetooth-Incoming-Port)`,
    },
    {
      path: `${dev}/cu.usbserial-A50285BI`,
      kind: "usb",
      product: "",
      friendlyName: `usbserial-A50285BI (${dev}/cu.usbserial-A50285BI)`,
    },
  ]);
  Deno.removeSync(dev, { recursive: true });
});
