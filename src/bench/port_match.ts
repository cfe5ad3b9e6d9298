import type { PortIdentity, PortInfo } from "../drivers/serial/port.ts";
import { isPtyNumber } from "./port_globs.ts";

/** The device that a pane chose: kept with its settings, so that it is known again also under another name. */
export interface WantedPort extends PortIdentity {
  /** The value that was chosen: what the system called it then, a configured path, or a /dev/serial/by-id name. */
  path: string;
  kind: PortInfo["kind"];
}

export type Match =
  | { found: "one"; port: PortInfo }
  | { found: "none" }
  /** Several devices answer the description and nothing tells them apart: none is taken. */
  | { found: "several"; ports: PortInfo[] };

const same = (a: string | undefined, b: string | undefined): boolean =>
  (a ?? "").toLowerCase() === (b ?? "").toLowerCase();

const sameModel = (wanted: PortIdentity, info: PortIdentity): boolean =>
  same(wanted.vendorId, info.vendorId) && same(wanted.productId, info.productId);

/** Whether this is the wanted device, as far as the device itself tells. */
const fits = (wanted: WantedPort, info: PortInfo): boolean => {
  if (wanted.kind !== info.kind) return false;
  if (wanted.kind !== "usb") return wanted.path === info.path;
  if (!sameModel(wanted, info)) return false;
  if (wanted.serialNumber) {
    return wanted.serialNumber === info.serialNumber && same(wanted.interfaceNumber, info.interfaceNumber);
  }
  // A device that tells a serial number cannot be one that told none.
  if (info.serialNumber) return false;
  return wanted.location ? wanted.location === info.location : wanted.path === info.path;
};

/**
 * Finds the wanted device among those that are there now: USB with a serial number wherever it is plugged and whatever
 * it is called; without one only in the same socket; on-board ports and configured ones by their path. Never another.
 */
export const findPort = (wanted: WantedPort, ports: readonly PortInfo[]): Match => {
  const fitting = ports.filter((info) => fits(wanted, info));
  const [first] = fitting;
  if (!first) return { found: "none" };
  if (fitting.length === 1) return { found: "one", port: first };
  // Cheap adapters all carry the serial number 0001: then the socket decides.
  const there = fitting.filter((info) => wanted.location !== undefined && info.location === wanted.location);
  const [only] = there;
  return only && there.length === 1 ? { found: "one", port: only } : { found: "several", ports: fitting };
};

/** What is kept of a port to find it again. */
export const wantedOf = (info: PortInfo, value: string = info.path): WantedPort => ({
  path: value,
  kind: info.kind,
  ...(info.vendorId !== undefined && { vendorId: info.vendorId }),
  ...(info.productId !== undefined && { productId: info.productId }),
  ...(info.serialNumber !== undefined && { serialNumber: info.serialNumber }),
  ...(info.location !== undefined && { location: info.location }),
  ...(info.interfaceNumber !== undefined && { interfaceNumber: info.interfaceNumber }),
});

/**
 * Whether this device can be known again when it is lost. A PTY by its number cannot: the system gives the number to
 * the next program that asks for a terminal, and that one's keys are nobody's business. A link to a PTY can.
 */
export const canReturn = ({ path }: WantedPort): boolean => !isPtyNumber(path);

/** For people: what it is and where, said once. */
export const nameOf = ({ friendlyName, path }: PortInfo): string =>
  friendlyName.includes(path) ? friendlyName : `${friendlyName} (${path})`;

/** For people: which device is waited for. */
export const describeWanted = (wanted: WantedPort): string => {
  if (wanted.kind !== "usb") return wanted.path;
  const model = `USB ${wanted.vendorId ?? "????"}:${wanted.productId ?? "????"}`;
  if (wanted.serialNumber) return `${wanted.path} (${model}, serial number ${wanted.serialNumber})`;
  return wanted.location
    ? `${wanted.path} (${model} in the same socket, ${wanted.location}: it has no serial number)`
    : `${wanted.path} (${model})`;
};
