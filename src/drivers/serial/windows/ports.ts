import type { PortInfo } from "../port.ts";

/**
 * From what Windows knows of its devices to the ports of a list. Pure: the records come from `setup_api.ts` and
 * `registry.ts`.
 *
 * Sources: Microsoft Learn, "Standard USB Identifiers" (instance ids `USB\VID_v(4)&PID_d(4)[&MI_z(2)]\…`: the last part
 * is the serial number, or has a `&` when Windows made it up) and "Device Instance IDs"; FTDI AN_107 for `FTDIBUS\`.
 */

/** One present device of the classes Ports and Modem. */
export interface DeviceRecord {
  /** Registry value `PortName` of the device: `COM5`. */
  portName: string;
  /** Its own instance id, then those of its parents, nearest first. */
  instanceIds: readonly string[];
  friendlyName?: string;
  description?: string;
  manufacturer?: string;
  /** The product string of the USB device, as it reported it to the bus. */
  busDescription?: string;
  /** First location path, of the device or the nearest parent that has one: `PCIROOT(0)#PCI(1400)#USBROOT(0)#USB(3)`. */
  locationPath?: string;
  /** Location for people: `Port_#0003.Hub_#0001`. Hub numbers may change at a restart. */
  locationInformation?: string;
}

export interface UsbIdentity {
  vendorId: string;
  productId: string;
  serialNumber?: string;
  interfaceNumber?: string;
}

const USB_ID = /^(?:USB|FTDIBUS)\\VID_([0-9A-F]{4})[&+]PID_([0-9A-F]{4})([^\\]*)\\(.*)$/i;

/**
 * What instance ids say of a USB device. A composite device has its serial number on the parent, a port of an FTDI chip
 * has it on a parent without the port letter that FTDI's driver appends; so parents of the same vendor and product
 * count, nearest first. Undefined for what is not on USB.
 */
export function usbIdentity(instanceIds: readonly string[]): UsbIdentity | undefined {
  const own = USB_ID.exec(instanceIds[0] ?? "");
  if (!own) return undefined;
  const vendorId = (own[1] ?? "").toLowerCase();
  const productId = (own[2] ?? "").toLowerCase();
  let serialNumber: string | undefined;
  let interfaceNumber: string | undefined;
  for (const id of instanceIds) {
    const [, vendor = "", product = "", rest = "", last = ""] = USB_ID.exec(id) ?? [];
    // A hub, or the root: no longer this device.
    if (vendor.toLowerCase() !== vendorId || product.toLowerCase() !== productId) break;
    interfaceNumber ??= /&MI_([0-9A-F]{2})/i.exec(rest)?.[1]?.toLowerCase();
    const isUsb = id.toUpperCase().startsWith("USB\\");
    if (isUsb && last !== "" && !last.includes("&")) serialNumber = last;
  }
  // FTDI with a parent that could not be asked: `VID_0403+PID_6001+A50285BIA\0000`, A to D being the port.
  serialNumber ??= /^\+([^+\\&]+)[A-D]$/i.exec(own[3] ?? "")?.[1];
  return {
    vendorId,
    productId,
    ...(serialNumber !== undefined && { serialNumber }),
    ...(interfaceNumber !== undefined && { interfaceNumber }),
  };
}

/** Buses behind which there is no hardware of this port's own: com0com pairs, software devices, Bluetooth profiles. */
const VIRTUAL_BUS = /^(?:COM0COM|ROOT|SWD|SW|BTHENUM|VSBC\d*|VSPE)\\/i;

const kindOf = (instanceId: string): PortInfo["kind"] => {
  if (USB_ID.test(instanceId)) return "usb";
  return VIRTUAL_BUS.test(instanceId) ? "virtual" : "platform";
};

/** Printer ports are of class Ports too. */
const isSerialName = (name: string) => name !== "" && !/^LPT\d+$/i.test(name);

/** Product and path, never empty. Windows itself writes the path into most friendly names. */
function friendlyName(device: DeviceRecord): string {
  const name = device.friendlyName || device.busDescription || device.description || "";
  if (name === "") return device.portName;
  return name.toUpperCase().includes(device.portName.toUpperCase()) ? name : `${name} (${device.portName})`;
}

function portOf(device: DeviceRecord): PortInfo {
  const instanceId = device.instanceIds[0] ?? "";
  const location = device.locationPath || device.locationInformation;
  return {
    path: device.portName,
    kind: kindOf(instanceId),
    friendlyName: friendlyName(device),
    product: device.busDescription ?? "",
    ...(device.manufacturer && { manufacturer: device.manufacturer }),
    ...(location && { location }),
    ...usbIdentity(device.instanceIds),
  };
}

/** COM2 before COM10. */
const byName = new Intl.Collator("en", { numeric: true });

/**
 * The list of ports: every present device with a port name, and what only SERIALCOMM knows (programs that make ports
 * without a device class). `serialComm` maps port name to kernel device name, `COM3` to `\Device\VCP0`.
 */
export function portsFrom(devices: readonly DeviceRecord[], serialComm: ReadonlyMap<string, string>): PortInfo[] {
  const ports = new Map<string, PortInfo>();
  for (const device of devices) {
    if (isSerialName(device.portName)) ports.set(device.portName.toUpperCase(), portOf(device));
  }
  for (const name of serialComm.keys()) {
    if (isSerialName(name) && !ports.has(name.toUpperCase())) {
      ports.set(name.toUpperCase(), { path: name, kind: "virtual", friendlyName: name, product: "" });
    }
  }
  return [...ports.values()].sort((a, b) => byName.compare(a.path, b.path));
}

/** Changes when a port comes or goes, and when another device takes the same name. */
export function fingerprintOf(serialComm: ReadonlyMap<string, string>): string {
  return [...serialComm].map(([name, device]) => `${name}=${device}`).sort(byName.compare).join(";");
}

/**
 * The name under which to open a port, without the `\\.\` that users of Windows write before COM10. Undefined for what
 * cannot be the name of a port: a path of folders, a drive, an empty text.
 */
export function deviceName(path: string): string | undefined {
  const name = path.replace(/^[\\/]{2}[.?][\\/]/, "");
  return /^[\w$#.-]{1,64}$/.test(name) ? name : undefined;
}
