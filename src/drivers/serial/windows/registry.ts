import { bytesOf, fromWide, type Handle, wide, type Win32 } from "./win32.ts";

/** Reading the Windows registry: the little that the driver needs. */

/** (HKEY)(LONG)0x80000002, sign-extended as on 64-bit Windows. */
const HKEY_LOCAL_MACHINE: Handle = 0xffff_ffff_8000_0002n;
export const KEY_READ = 0x2_0019;
const ERROR_SUCCESS = 0;
const ERROR_MORE_DATA = 234;
/** Characters; names of values have 16,383 at most, those of ports and devices are far shorter. */
const ROOM = 512;

/**
 * `HKLM\HARDWARE\DEVICEMAP\SERIALCOMM`: the ports that can be opened now, port name → kernel device name. Every
 * serial driver of Windows keeps its entry here. Empty when there is no port (the key is then missing).
 */
export function readSerialComm(win: Win32): Map<string, string> {
  const { RegOpenKeyExW, RegEnumValueW, RegCloseKey } = win.advapi32;
  const ports = new Map<string, string>();
  const key = new BigUint64Array(1);
  const path = bytesOf(wide("HARDWARE\\DEVICEMAP\\SERIALCOMM"));
  if (RegOpenKeyExW(HKEY_LOCAL_MACHINE, path, 0, KEY_READ, bytesOf(key)) !== ERROR_SUCCESS) return ports;
  const handle = key[0] ?? 0n;
  for (let index = 0;; index++) {
    const name = new Uint16Array(ROOM);
    const data = new Uint16Array(ROOM);
    const nameChars = Uint32Array.of(ROOM);
    // One character less than there is room for: registry text need not end with a zero.
    const dataBytes = Uint32Array.of((ROOM - 1) * 2);
    const type = new Uint32Array(1);
    const result = RegEnumValueW(
      handle,
      index,
      bytesOf(name),
      bytesOf(nameChars),
      null,
      bytesOf(type),
      bytesOf(data),
      bytesOf(dataBytes),
    );
    if (result === ERROR_MORE_DATA) continue;
    if (result !== ERROR_SUCCESS) break;
    ports.set(fromWide(data), fromWide(name));
  }
  RegCloseKey(handle);
  return ports;
}

/** A text value of an open key; empty when it is not there. */
export function readText(win: Win32, key: Handle, name: string): string {
  const data = new Uint16Array(ROOM);
  const bytes = Uint32Array.of((ROOM - 1) * 2);
  const type = new Uint32Array(1);
  const { RegQueryValueExW } = win.advapi32;
  const result = RegQueryValueExW(key, bytesOf(wide(name)), null, bytesOf(type), bytesOf(data), bytesOf(bytes));
  return result === ERROR_SUCCESS ? fromWide(data) : "";
}
