import type { SerialDriver } from "./port.ts";

/*
 * Chosen when the module is loaded: each side opens a system library that the other system does not have, and a
 * driver's cheap calls (`fingerprint`, `holder`) are not asynchronous.
 */
const create: () => SerialDriver = Deno.build.os === "windows"
  ? (await import("./windows/driver.ts")).windowsDriver
  : (await import("./unix/driver.ts")).unixDriver;

/** The serial ports of the system that this runs on. */
export const systemDriver = (): SerialDriver => create();
