import { KEY_READ, readText } from "./registry.ts";
import type { DeviceRecord } from "./ports.ts";
import { bytesOf, fromWide, type Handle, INVALID_HANDLE, type Win32 } from "./win32.ts";

/**
 * The present devices of the classes Ports and Modem, from SetupAPI and the configuration manager. Every answer but the
 * port name may be missing; nothing here throws for that.
 *
 * Sources: Microsoft Learn, "Device Information Sets", `devguid.h` (classes), `devpkey.h` (bus reported description).
 */

/** A GUID in the byte order of the structure. */
function guid(text: string): Uint8Array<ArrayBuffer> {
  const hex = text.replaceAll("-", "");
  const at = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
  return Uint8Array.from(at, (i) => parseInt(hex.slice(i * 2, i * 2 + 2), 16));
}

const CLASSES = [
  guid("4d36e978-e325-11ce-bfc1-08002be10318"), // Ports (COM and LPT)
  guid("4d36e96d-e325-11ce-bfc1-08002be10318"), // Modem: the AT port of a cellular module
];

const DIGCF_PRESENT = 2;
/** Far more than any machine has; ends the loop should a driver misbehave. */
const DEVICES_MAX = 1024;

/** SP_DEVINFO_DATA: size at 0, class GUID at 4, device instance at 20, reserved at 24. */
const DEVINFO_BYTES = 32;
const DEVINFO_INSTANCE = 20;

const PROPERTY = { description: 0x00, manufacturer: 0x0b, friendlyName: 0x0c, locationInformation: 0x0d };
const CM_LOCATION_INFORMATION = 0x0e;
const CM_LOCATION_PATHS = 0x24;
const CR_SUCCESS = 0;
/** Of a composite FTDI adapter: port, interface, device. */
const PARENTS = 3;

/** DEVPKEY_Device_BusReportedDeviceDesc: GUID and number 4. */
const BUS_REPORTED_DESCRIPTION = (() => {
  const key = new Uint8Array(20);
  key.set(guid("540b947e-8b40-45bc-a8a2-6a0b894cbda2"));
  key[16] = 4;
  return key;
})();

const ROOM = 512;
const DICS_FLAG_GLOBAL = 1;
const DIREG_DEV = 1;

function propertyOf(win: Win32, set: Handle, device: Uint8Array<ArrayBuffer>, id: number): string {
  const text = new Uint16Array(ROOM);
  const { SetupDiGetDeviceRegistryPropertyW } = win.setupapi;
  return SetupDiGetDeviceRegistryPropertyW(set, device, id, null, bytesOf(text), (ROOM - 1) * 2, null) === 0
    ? ""
    : fromWide(text);
}

function busDescriptionOf(win: Win32, set: Handle, device: Uint8Array<ArrayBuffer>): string {
  const text = new Uint16Array(ROOM);
  const type = bytesOf(new Uint32Array(1));
  const { SetupDiGetDevicePropertyW } = win.setupapi;
  const key = BUS_REPORTED_DESCRIPTION;
  return SetupDiGetDevicePropertyW(set, device, key, type, bytesOf(text), (ROOM - 1) * 2, null, 0) === 0
    ? ""
    : fromWide(text);
}

function instanceIdOf(win: Win32, set: Handle, device: Uint8Array<ArrayBuffer>): string {
  const text = new Uint16Array(ROOM);
  return win.setupapi.SetupDiGetDeviceInstanceIdW(set, device, bytesOf(text), ROOM - 1, null) === 0
    ? ""
    : fromWide(text);
}

function portNameOf(win: Win32, set: Handle, device: Uint8Array<ArrayBuffer>): string {
  const key = win.setupapi.SetupDiOpenDevRegKey(set, device, DICS_FLAG_GLOBAL, 0, DIREG_DEV, KEY_READ);
  if (key === INVALID_HANDLE) return "";
  const name = readText(win, key, "PortName");
  win.advapi32.RegCloseKey(key);
  return name;
}

/** The device instances above one, nearest first, as far as the configuration manager tells. */
function parentsOf(win: Win32, instance: number): number[] {
  const parents: number[] = [];
  for (let child = instance; parents.length < PARENTS;) {
    const parent = new Uint32Array(1);
    if (win.cfgmgr32.CM_Get_Parent(bytesOf(parent), child, 0) !== CR_SUCCESS) break;
    child = parent[0] ?? 0;
    parents.push(child);
  }
  return parents;
}

function nodeId(win: Win32, instance: number): string {
  const text = new Uint16Array(ROOM);
  return win.cfgmgr32.CM_Get_Device_IDW(instance, bytesOf(text), ROOM - 1, 0) === CR_SUCCESS ? fromWide(text) : "";
}

/** A property of a device node; of a list of texts the first. */
function nodeProperty(win: Win32, instance: number, id: number): string {
  const text = new Uint16Array(ROOM);
  const bytes = Uint32Array.of((ROOM - 1) * 2);
  const { CM_Get_DevNode_Registry_PropertyW } = win.cfgmgr32;
  const result = CM_Get_DevNode_Registry_PropertyW(instance, id, null, bytesOf(text), bytesOf(bytes), 0);
  return result === CR_SUCCESS ? fromWide(text) : "";
}

/** The first text that is not empty; the rest are not asked. */
function first(...sources: (() => string)[]): string {
  for (const source of sources) {
    const text = source();
    if (text !== "") return text;
  }
  return "";
}

function record(win: Win32, set: Handle, device: Uint8Array<ArrayBuffer>): DeviceRecord | undefined {
  const portName = portNameOf(win, set, device);
  if (portName === "") return undefined;
  const instance = new DataView(device.buffer).getUint32(DEVINFO_INSTANCE, true);
  const parents = parentsOf(win, instance);
  const nodes = [instance, ...parents];
  const property = (id: number) => propertyOf(win, set, device, id);
  return {
    portName,
    instanceIds: [instanceIdOf(win, set, device), ...parents.map((parent) => nodeId(win, parent))],
    friendlyName: property(PROPERTY.friendlyName),
    description: property(PROPERTY.description),
    manufacturer: property(PROPERTY.manufacturer),
    busDescription: busDescriptionOf(win, set, device),
    locationPath: first(...nodes.map((node) => () => nodeProperty(win, node, CM_LOCATION_PATHS))),
    locationInformation: first(
      () => property(PROPERTY.locationInformation),
      ...parents.map((node) => () => nodeProperty(win, node, CM_LOCATION_INFORMATION)),
    ),
  };
}

/** All present devices that have a port name. */
export function readDevices(win: Win32): DeviceRecord[] {
  const records: DeviceRecord[] = [];
  for (const deviceClass of CLASSES) {
    const set = win.setupapi.SetupDiGetClassDevsW(deviceClass, null, null, DIGCF_PRESENT);
    if (set === INVALID_HANDLE) continue;
    for (let index = 0; index < DEVICES_MAX; index++) {
      const device = new Uint8Array(new ArrayBuffer(DEVINFO_BYTES));
      device[0] = DEVINFO_BYTES;
      if (win.setupapi.SetupDiEnumDeviceInfo(set, index, device) === 0) break;
      const found = record(win, set, device);
      if (found) records.push(found);
    }
    win.setupapi.SetupDiDestroyDeviceInfoList(set);
  }
  return records;
}
