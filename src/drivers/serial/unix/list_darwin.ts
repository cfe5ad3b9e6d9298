import type { PortInfo } from "../port.ts";

/*
 * Unproved: never run on macOS. The names alone: VID, PID and serial number are in IOKit's registry, whose calls (Core
 * Foundation objects, iterators) are left out until they can be run. So a device is known again by its name only, which
 * macOS derives from its USB serial number or location.
 */

/** `cu.` and not `tty.`: opening a `tty.` name waits for the carrier. */
const isPort = (name: string): boolean => name.startsWith("cu.");

const portNames = (dev: string): string[] => {
  try {
    return Array.from(Deno.readDirSync(dev), (entry) => entry.name).filter(isPort).sort();
  } catch {
    return [];
  }
};

/** What the USB serial drivers of macOS and of the chip makers call their ports. */
const USB = /^cu\.(usbserial|usbmodem|SLAB_USBtoUART|wchusbserial)/;

export const listDarwin = (dev = "/dev"): PortInfo[] =>
  portNames(dev).map((name): PortInfo => {
    const path = `${dev}/${name}`;
    const kind = USB.test(name) ? "usb" : "platform";
    return { path, kind, product: "", friendlyName: `${name.slice("cu.".length)} (${path})` };
  });

export const fingerprintDarwin = (dev = "/dev"): string => portNames(dev).join(" ");
