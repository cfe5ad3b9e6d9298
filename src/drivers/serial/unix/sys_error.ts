import { PortError, type PortErrorKind } from "../port.ts";
import { EACCES, EBUSY, EINVAL, EIO, EISDIR, EMFILE, ENODEV, ENOENT, ENOTDIR, ENOTTY, ENXIO, EPERM } from "./abi.ts";

const TEXT: ReadonlyMap<number, string> = new Map([
  [EPERM, "not permitted (EPERM)"],
  [ENOENT, "no such file (ENOENT)"],
  [EIO, "input/output error (EIO)"],
  [ENXIO, "no such device (ENXIO)"],
  [EACCES, "permission denied (EACCES)"],
  [EBUSY, "busy (EBUSY)"],
  [ENODEV, "no such device (ENODEV)"],
  [ENOTDIR, "a part of the path is no folder (ENOTDIR)"],
  [EISDIR, "is a folder (EISDIR)"],
  [EINVAL, "refused by the driver (EINVAL)"],
  [EMFILE, "too many open files (EMFILE)"],
  [ENOTTY, "not a serial line (ENOTTY)"],
]);

export const errnoText = (errno: number): string => TEXT.get(errno) ?? `errno ${errno}`;

/** The device behind an open descriptor is gone: unplugged, or the other end of a PTY closed. */
export const isHangUp = (errno: number): boolean => errno === EIO || errno === ENXIO || errno === ENODEV;

const AT_OPEN: ReadonlyMap<number, PortErrorKind> = new Map([
  [ENOENT, "not_found"],
  [ENOTDIR, "not_found"],
  [ENXIO, "not_found"],
  [ENODEV, "not_found"],
  [EACCES, "no_permission"],
  [EPERM, "no_permission"],
  [EBUSY, "in_use"],
  [ENOTTY, "not_a_port"],
  [EISDIR, "not_a_port"],
]);

const OPEN_TEXT: Readonly<Partial<Record<PortErrorKind, string>>> = {
  not_found: "is not there; check the cable and the name",
  no_permission: "may not be opened by this user; on Linux add the user to the group that owns it, and log in again",
  not_a_port: "is not a serial port",
};

/** A failure while a port is being opened. `in_use` is worded by {@link inUse}. */
export const openError = (path: string, errno: number, call: string): PortError => {
  const kind = AT_OPEN.get(errno) ?? "io";
  const what = OPEN_TEXT[kind] ?? `cannot be opened: ${call} says ${errnoText(errno)}`;
  return new PortError(kind, `${path} ${what}`);
};

export const inUse = (path: string, holder: string | undefined): PortError => {
  const by = holder ? `held by ${holder}` : "held by another program";
  return new PortError("in_use", `${path} is in use: ${by}; close it there first`, holder ? { holder } : {});
};

export const lost = (path: string): PortError =>
  new PortError("lost", `${path} is gone: unplugged, or its other end closed`);

export const canceled = (path: string): PortError => new PortError("canceled", `${path} was closed`);

export const writeCanceled = (path: string): PortError =>
  new PortError("canceled", `the write to ${path} was canceled`);

/** A failure of a call on an open port. */
export const callError = (path: string, errno: number, call: string): PortError => {
  if (isHangUp(errno)) return lost(path);
  if (errno === ENOTTY) return new PortError("unsupported", `${path} has no such function: ${call}`);
  if (errno === EINVAL) return new PortError("unsupported", `${path}: the driver refused ${call}`);
  return new PortError("io", `${path}: ${call} failed, ${errnoText(errno)}`);
};
