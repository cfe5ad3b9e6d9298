import { PortError, type PortErrorKind } from "../port.ts";

/**
 * What Windows says, in the words of {@link PortError}. Pure: the numbers come from the caller.
 *
 * Sources: [MS-ERREF] 2.2 "Win32 Error Codes" and 2.3 "NTSTATUS Values"; the pairs are those of
 * `RtlNtStatusToDosError`, against which `tests/platforms/wine/serial_check.ts` compares them.
 */

/** NTSTATUS: the transfer is under way. */
export const STATUS_PENDING = 0x0000_0103;

/** An NTSTATUS of the classes warning (0x8…) and error (0xC…): what `NT_SUCCESS` calls a failure. */
export const isFailure = (status: number): boolean => (status >>> 0) >= 0x8000_0000;

/** NTSTATUS → Win32 error code. */
export const WIN32_OF_STATUS: Readonly<Record<number, number>> = {
  0x8000_000f: 21, // DEVICE_POWERED_OFF → NOT_READY
  0x8000_0010: 21, // DEVICE_OFF_LINE → NOT_READY
  0x8000_0011: 170, // DEVICE_BUSY → BUSY
  0xc000_0001: 31, // UNSUCCESSFUL → GEN_FAILURE
  0xc000_0002: 1, // NOT_IMPLEMENTED → INVALID_FUNCTION
  0xc000_0008: 6, // INVALID_HANDLE
  0xc000_000d: 87, // INVALID_PARAMETER
  0xc000_000e: 433, // NO_SUCH_DEVICE
  0xc000_000f: 2, // NO_SUCH_FILE → FILE_NOT_FOUND
  0xc000_0010: 1, // INVALID_DEVICE_REQUEST → INVALID_FUNCTION
  0xc000_0022: 5, // ACCESS_DENIED
  0xc000_0024: 6, // OBJECT_TYPE_MISMATCH → INVALID_HANDLE
  0xc000_0033: 123, // OBJECT_NAME_INVALID → INVALID_NAME
  0xc000_0034: 2, // OBJECT_NAME_NOT_FOUND → FILE_NOT_FOUND
  0xc000_003a: 3, // OBJECT_PATH_NOT_FOUND → PATH_NOT_FOUND
  0xc000_003b: 161, // OBJECT_PATH_SYNTAX_BAD → BAD_PATHNAME
  0xc000_0043: 32, // SHARING_VIOLATION
  0xc000_0056: 5, // DELETE_PENDING → ACCESS_DENIED
  0xc000_0061: 1314, // PRIVILEGE_NOT_HELD
  0xc000_009a: 1450, // INSUFFICIENT_RESOURCES → NO_SYSTEM_RESOURCES
  0xc000_009c: 23, // DEVICE_DATA_ERROR → CRC
  0xc000_009d: 1167, // DEVICE_NOT_CONNECTED
  0xc000_00a3: 21, // DEVICE_NOT_READY → NOT_READY
  0xc000_00b0: 233, // PIPE_DISCONNECTED → PIPE_NOT_CONNECTED
  0xc000_00b5: 121, // IO_TIMEOUT → SEM_TIMEOUT
  0xc000_00ba: 5, // FILE_IS_A_DIRECTORY → ACCESS_DENIED
  0xc000_00bb: 50, // NOT_SUPPORTED
  0xc000_00c0: 55, // DEVICE_DOES_NOT_EXIST → DEV_NOT_EXIST
  0xc000_0120: 995, // CANCELLED → OPERATION_ABORTED
  0xc000_014b: 109, // PIPE_BROKEN → BROKEN_PIPE
  0xc000_0184: 22, // INVALID_DEVICE_STATE → BAD_COMMAND
  0xc000_0185: 1117, // IO_DEVICE_ERROR → IO_DEVICE
  0xc000_02b6: 1617, // DEVICE_REMOVED
};

/** A status that is not in the table becomes 317 (ERROR_MR_MID_NOT_FOUND), as `RtlNtStatusToDosError` does. */
export function win32OfStatus(status: number): number {
  const known = WIN32_OF_STATUS[status >>> 0];
  if (known !== undefined) return known;
  // Severity error, facility NTWIN32: the Win32 code is the low word.
  return (status >>> 16) === 0xc007 ? status & 0xffff : 317;
}

const TEXT: Readonly<Record<number, string>> = {
  1: "the driver does not know this request",
  2: "there is no such port",
  3: "there is no such port",
  5: "access denied",
  6: "the handle is not valid (closed or unplugged)",
  21: "the device is not ready",
  22: "the device does not answer to the command (unplugged?)",
  23: "data error",
  31: "the device does not work (unplugged?)",
  32: "the port is open in another program",
  50: "not supported by this port's driver",
  55: "the device is gone",
  87: "the driver refuses these values",
  109: "the other end is gone",
  121: "the device did not answer in time",
  123: "this is not a port name",
  161: "this is not a port name",
  170: "the device is busy",
  233: "the other end is gone",
  433: "the device is gone",
  995: "the transfer was ended by the driver (unplugged?)",
  1117: "the device reports an input/output error",
  1167: "the device is not connected",
  1314: "a privilege is missing",
  1450: "Windows is out of resources",
  1460: "the device did not answer in time",
  1617: "the device was removed",
};

/** At what point a call failed: the same number means different things. */
export type Phase =
  /** Opening the device by name. */
  | "open"
  /** The first question that only a serial port answers. */
  | "probe"
  /** Baud rate and frame. */
  | "settings"
  /** DTR, RTS, break, CTS, DSR, DCD, RI. */
  | "lines"
  /** Reads, writes and the rest on an open port. */
  | "io";

const NOT_FOUND = new Set([2, 3, 15, 20, 21, 55, 123, 161, 433, 1167, 1617]);
const HELD = new Set([5, 32, 170]);
const REFUSED = new Set([1, 50, 87, 120]);
/** On an open port these mean that the device went away; which one depends on its driver. */
const GONE = new Set([1, 2, 3, 5, 6, 20, 21, 22, 31, 55, 109, 233, 433, 995, 1117, 1167, 1617]);

/** What a Win32 error code means to the caller. */
export function kindOf(code: number, phase: Phase): PortErrorKind {
  if (phase === "open") {
    // Windows refuses a second opener of a serial port with ACCESS_DENIED: a port has no other access rule by default.
    if (HELD.has(code)) return "in_use";
    if (NOT_FOUND.has(code)) return "not_found";
    if (code === 1314) return "no_permission";
    return REFUSED.has(code) || code === 6 || code === 267 ? "not_a_port" : "io";
  }
  if (phase === "probe" && (REFUSED.has(code) || code === 6)) return "not_a_port";
  if ((phase === "settings" || phase === "lines") && REFUSED.has(code)) return "unsupported";
  return GONE.has(code) ? "lost" : "io";
}

/** The text of a Win32 error code, with the number for those who want to look it up. */
const textOf = (code: number): string => TEXT[code] ? `${TEXT[code]} (Windows error ${code})` : `Windows error ${code}`;

/** An error for people. `call` names what was tried, in words: "open", "set the baud rate of". */
export function portError(call: string, path: string, code: number, phase: Phase): PortError {
  const kind = kindOf(code, phase);
  switch (kind) {
    case "in_use":
      return new PortError(kind, `${path} is open in another program (Windows error ${code})`);
    case "not_a_port":
      return new PortError(kind, `${path} is not a serial port: ${textOf(code)}`);
    case "lost":
      return new PortError(kind, `${path} was lost: ${textOf(code)}`);
    default:
      return new PortError(kind, `Cannot ${call} ${path}: ${textOf(code)}`);
  }
}
