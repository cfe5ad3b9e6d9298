/**
 * The Windows calls that the serial driver needs, by FFI. Nothing is opened at import time: the first call of
 * {@link win32} opens the DLLs, so that this file can be imported and type-checked on every system.
 *
 * Sources: Microsoft Learn, "Communications Resources" and "Synchronization Functions" (kernel32), the Windows Driver
 * Kit for the `Nt…` calls (ntdll). Handles are `usize`, a `bigint` here.
 */

/** A kernel object handle, registry key handle or device information set. */
export type Handle = bigint;

/** What `SetupDi…` and `CreateFile` return when they fail: (HANDLE)-1. */
export const INVALID_HANDLE: Handle = 0xffff_ffff_ffff_ffffn;

const KERNEL32 = {
  CreateEventW: { parameters: ["pointer", "i32", "i32", "pointer"], result: "usize" },
  SetEvent: { parameters: ["usize"], result: "i32" },
  CloseHandle: { parameters: ["usize"], result: "i32" },
  WaitForSingleObject: { parameters: ["usize", "u32"], result: "u32" },
  // The one call that blocks for long; on a thread of its own.
  WaitForMultipleObjects: { parameters: ["u32", "buffer", "i32", "u32"], result: "u32", nonblocking: true },
  GetLastError: { parameters: [], result: "u32" },
  GetCommState: { parameters: ["usize", "buffer"], result: "i32" },
  SetCommState: { parameters: ["usize", "buffer"], result: "i32" },
  SetCommTimeouts: { parameters: ["usize", "buffer"], result: "i32" },
  SetupComm: { parameters: ["usize", "u32", "u32"], result: "i32" },
  PurgeComm: { parameters: ["usize", "u32"], result: "i32" },
  EscapeCommFunction: { parameters: ["usize", "u32"], result: "i32" },
  GetCommModemStatus: { parameters: ["usize", "buffer"], result: "i32" },
  ClearCommError: { parameters: ["usize", "buffer", "buffer"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

// These return their status as the result, not in the thread's last error, so they may also run on another thread.
const NTDLL = {
  NtCreateFile: {
    parameters: ["buffer", "u32", "buffer", "buffer", "pointer", "u32", "u32", "u32", "u32", "pointer", "u32"],
    result: "u32",
    nonblocking: true,
  },
  NtReadFile: {
    parameters: ["usize", "usize", "pointer", "pointer", "pointer", "pointer", "u32", "pointer", "pointer"],
    result: "u32",
  },
  NtWriteFile: {
    parameters: ["usize", "usize", "pointer", "pointer", "pointer", "pointer", "u32", "pointer", "pointer"],
    result: "u32",
  },
  NtDeviceIoControlFile: {
    parameters: [
      "usize",
      "usize",
      "pointer",
      "pointer",
      "pointer",
      "u32",
      "pointer",
      "u32",
      "pointer",
      "u32",
    ],
    result: "u32",
  },
  NtCancelIoFileEx: { parameters: ["usize", "pointer", "buffer"], result: "u32" },
  // Closing may wait inside a driver that still sends: never on our own thread.
  NtClose: { parameters: ["usize"], result: "u32", nonblocking: true },
  RtlNtStatusToDosError: { parameters: ["u32"], result: "u32" },
} as const satisfies Deno.ForeignLibraryInterface;

const ADVAPI32 = {
  RegOpenKeyExW: { parameters: ["usize", "buffer", "u32", "u32", "buffer"], result: "u32" },
  RegCloseKey: { parameters: ["usize"], result: "u32" },
  RegEnumValueW: {
    parameters: ["usize", "u32", "buffer", "buffer", "pointer", "buffer", "buffer", "buffer"],
    result: "u32",
  },
  RegQueryValueExW: { parameters: ["usize", "buffer", "pointer", "buffer", "buffer", "buffer"], result: "u32" },
} as const satisfies Deno.ForeignLibraryInterface;

const SETUPAPI = {
  SetupDiGetClassDevsW: { parameters: ["buffer", "pointer", "pointer", "u32"], result: "usize" },
  SetupDiEnumDeviceInfo: { parameters: ["usize", "u32", "buffer"], result: "i32" },
  SetupDiDestroyDeviceInfoList: { parameters: ["usize"], result: "i32" },
  SetupDiGetDeviceRegistryPropertyW: {
    parameters: ["usize", "buffer", "u32", "pointer", "buffer", "u32", "pointer"],
    result: "i32",
  },
  SetupDiGetDevicePropertyW: {
    parameters: ["usize", "buffer", "buffer", "buffer", "buffer", "u32", "pointer", "u32"],
    result: "i32",
  },
  SetupDiGetDeviceInstanceIdW: { parameters: ["usize", "buffer", "buffer", "u32", "pointer"], result: "i32" },
  SetupDiOpenDevRegKey: { parameters: ["usize", "buffer", "u32", "u32", "u32", "u32"], result: "usize" },
} as const satisfies Deno.ForeignLibraryInterface;

const CFGMGR32 = {
  CM_Get_Parent: { parameters: ["buffer", "u32", "u32"], result: "u32" },
  CM_Get_Device_IDW: { parameters: ["u32", "buffer", "u32", "u32"], result: "u32" },
  CM_Get_DevNode_Registry_PropertyW: {
    parameters: ["u32", "u32", "pointer", "buffer", "buffer", "u32"],
    result: "u32",
  },
} as const satisfies Deno.ForeignLibraryInterface;

function load() {
  return {
    kernel32: Deno.dlopen("kernel32.dll", KERNEL32).symbols,
    ntdll: Deno.dlopen("ntdll.dll", NTDLL).symbols,
    advapi32: Deno.dlopen("advapi32.dll", ADVAPI32).symbols,
    setupapi: Deno.dlopen("setupapi.dll", SETUPAPI).symbols,
    cfgmgr32: Deno.dlopen("cfgmgr32.dll", CFGMGR32).symbols,
  };
}

export type Win32 = ReturnType<typeof load>;

let loaded: Win32 | undefined;

/** The Windows calls; opened once for the whole process. Throws on another system. */
export const win32 = (): Win32 => loaded ??= load();

/** Text as UTF-16 with an ending zero, as the `…W` calls take it. */
export function wide(text: string): Uint16Array<ArrayBuffer> {
  const units = new Uint16Array(text.length + 1);
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
  return units;
}

/** UTF-16 up to its first zero. */
export function fromWide(units: Uint16Array): string {
  const end = units.indexOf(0);
  return String.fromCharCode(...units.subarray(0, end < 0 ? units.length : end));
}

/** The memory of a typed array as bytes, to pass to a call. */
export const bytesOf = (array: Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | BigUint64Array<ArrayBuffer>) =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

// Memory that a call on another thread still uses. FFI does not keep it from being collected.
const held = new Set<readonly unknown[]>();

/** Waits for a call on another thread and keeps the memory that it was given alive until then. */
export async function holding<T>(memory: readonly unknown[], call: Promise<T>): Promise<T> {
  held.add(memory);
  try {
    return await call;
  } finally {
    held.delete(memory);
  }
}
