import type { PortInfo } from "../port.ts";

/** Where to look; tests point these at a tree of their own. */
export interface Roots {
  sys: string;
  dev: string;
}

export const SYSTEM_ROOTS: Roots = { sys: "/sys", dev: "/dev" };

const names = (folder: string): string[] => {
  try {
    return Array.from(Deno.readDirSync(folder), (entry) => entry.name);
  } catch {
    return [];
  }
};

/** Content of a sysfs attribute; undefined when it is not there, or empty. */
const attribute = (path: string): string | undefined => {
  try {
    return Deno.readTextFileSync(path).trim() || undefined;
  } catch {
    return undefined;
  }
};

const real = (path: string): string | undefined => {
  try {
    return Deno.realPathSync(path);
  } catch {
    return undefined;
  }
};

const base = (path: string | undefined): string | undefined => path?.slice(path.lastIndexOf("/") + 1);

/** Consoles and PTYs: there are dozens, and no device is ever behind them. */
const NEVER_A_PORT = /^(tty\d*|console|ptmx|pty.*|tty[p-za-e][0-9a-f])$/;

/** Driver 8250 makes ttyS0 to ttyS3 (or 31) also where no chip is: those have type 0, PORT_UNKNOWN. */
const isAbsentChip = (sys: string, name: string): boolean =>
  /^ttyS\d+$/.test(name) && attribute(`${sys}/class/tty/${name}/type`) === "0";

interface UsbPlace {
  /** Folder of the USB interface, such as `…/1-2/1-2:1.0`. */
  face: string;
  /** Number of the port within the interface, for adapters that put several there. */
  port: string | undefined;
}

const usbPlace = (device: string): UsbPlace | undefined => {
  const subsystem = base(real(`${device}/subsystem`));
  if (subsystem === "usb") return { face: device, port: undefined };
  if (subsystem !== "usb-serial") return undefined;
  const face = real(`${device}/..`);
  return face === undefined ? undefined : { face, port: attribute(`${device}/port_number`) };
};

const usbInfo = ({ face, port }: UsbPlace): Partial<PortInfo> => {
  const usb = real(`${face}/..`) ?? face;
  const place = base(face);
  const several = port !== undefined && port !== "0";
  const found = {
    vendorId: attribute(`${usb}/idVendor`)?.toLowerCase(),
    productId: attribute(`${usb}/idProduct`)?.toLowerCase(),
    serialNumber: attribute(`${usb}/serial`),
    manufacturer: attribute(`${usb}/manufacturer`),
    product: attribute(`${usb}/product`),
    interfaceNumber: attribute(`${face}/bInterfaceNumber`),
    location: several ? `${place}/${port}` : place,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
};

const describe = (roots: Roots, name: string): PortInfo | undefined => {
  const device = real(`${roots.sys}/class/tty/${name}/device`);
  if (device === undefined || isAbsentChip(roots.sys, name)) return undefined;
  const path = `${roots.dev}/${name}`;
  const place = usbPlace(device);
  const usb = place && usbInfo(place);
  const product = usb?.product ?? "";
  return {
    ...usb,
    path,
    kind: place ? "usb" : "platform",
    product,
    friendlyName: `${product || (place ? "USB serial port" : "Serial port")} (${path})`,
  };
};

/** ttyUSB2 before ttyUSB10. */
const byPath = new Intl.Collator("en", { numeric: true });

/** Serial ports from sysfs, without udev. PTYs never show up there: such paths come from the configuration. */
export const listLinux = (roots: Roots = SYSTEM_ROOTS): PortInfo[] =>
  names(`${roots.sys}/class/tty`)
    .filter((name) => !NEVER_A_PORT.test(name))
    .map((name) => describe(roots, name))
    .filter((port) => port !== undefined)
    .sort((one, other) => byPath.compare(one.path, other.path));

/**
 * The names and, of each, the inode of its sysfs entry: that is a new one after every plugging in, so that a device
 * that was swapped between two looks is noticed although the name is the same.
 */
export const fingerprintLinux = (roots: Roots = SYSTEM_ROOTS): string => {
  const folder = `${roots.sys}/class/tty`;
  const seen: string[] = [];
  for (const name of names(folder)) {
    if (NEVER_A_PORT.test(name)) continue;
    try {
      seen.push(`${name}:${Deno.lstatSync(`${folder}/${name}`).ino}`);
    } catch {
      // Went between the two calls: the next look will not have it.
    }
  }
  return seen.sort().join(" ");
};
