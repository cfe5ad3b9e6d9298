import type { DataBits, LineAtOpen, LineSettings, Parity, StopBits } from "../port.ts";

/**
 * The device control block of `GetCommState` and `SetCommState`. Pure.
 *
 * Source: Microsoft Learn, "DCB structure (winbase.h)". Layout, little-endian:
 * 0 DCBlength, 4 BaudRate, 8 flags, 12 wReserved, 14 XonLim, 16 XoffLim, 18 ByteSize, 19 Parity, 20 StopBits,
 * 21 XonChar, 22 XoffChar, 23 ErrorChar, 24 EofChar, 25 EvtChar, 26 wReserved1.
 */
export const DCB_BYTES = 28;

const AT = {
  baudRate: 4,
  flags: 8,
  xonLim: 14,
  xoffLim: 16,
  byteSize: 18,
  parity: 19,
  stopBits: 20,
  xon: 21,
  xoff: 22,
};

const FLAG = { binary: 0x1, parity: 0x2 };
const DTR_SHIFT = 4;
const RTS_SHIFT = 12;
/** fDtrControl and fRtsControl: two bits each. */
const CONTROL = { disable: 0, enable: 1 };

const PARITIES: readonly Parity[] = ["none", "odd", "even", "mark", "space"];
const STOP_BITS: readonly StopBits[] = [1, 1.5, 2];
const isDataBits = (n: number): n is DataBits => n === 5 || n === 6 || n === 7 || n === 8;

/** An empty block for `GetCommState` to fill. */
export function newDcb(): Uint8Array<ArrayBuffer> {
  const dcb = new Uint8Array(DCB_BYTES);
  dcb[0] = DCB_BYTES;
  return dcb;
}

const viewOf = (dcb: Uint8Array) => new DataView(dcb.buffer, dcb.byteOffset, DCB_BYTES);

export interface DcbState {
  settings: LineSettings;
  /** Whether the driver holds the line up by itself (enabled or under handshake). */
  dtr: boolean;
  rts: boolean;
}

/** What a driver reported. Values that no driver should report read as 8 data bits, no parity, 1 stop bit. */
export function decodeDcb(dcb: Uint8Array): DcbState {
  const view = viewOf(dcb);
  const flags = view.getUint32(AT.flags, true);
  const dataBits = view.getUint8(AT.byteSize);
  return {
    settings: {
      baudRate: view.getUint32(AT.baudRate, true),
      dataBits: isDataBits(dataBits) ? dataBits : 8,
      parity: PARITIES[view.getUint8(AT.parity)] ?? "none",
      stopBits: STOP_BITS[view.getUint8(AT.stopBits)] ?? 1,
    },
    dtr: ((flags >>> DTR_SHIFT) & 3) !== CONTROL.disable,
    rts: ((flags >>> RTS_SHIFT) & 3) !== CONTROL.disable,
  };
}

/**
 * The block to set when a port is opened, on top of what `GetCommState` reported. Every kind of flow control, abort on
 * error, discarding of zeros and character replacement that another program left behind is switched off.
 *
 * `leave` keeps a line as reported. A line that was left under handshake is up while there is room in the driver's
 * buffer: it is kept up, but from now on by hand, or `setLines` could not move it.
 */
export function encodeDcb(
  reported: Uint8Array,
  wanted: LineSettings & { dtr: LineAtOpen; rts: LineAtOpen },
): Uint8Array<ArrayBuffer> {
  const before = decodeDcb(reported);
  const control = (line: LineAtOpen, now: boolean) =>
    line === "high" || (line === "leave" && now) ? CONTROL.enable : CONTROL.disable;
  const dcb = new Uint8Array(DCB_BYTES);
  dcb.set(reported.subarray(0, DCB_BYTES));
  const view = viewOf(dcb);
  view.setUint32(0, DCB_BYTES, true);
  view.setUint32(AT.baudRate, wanted.baudRate, true);
  view.setUint32(
    AT.flags,
    FLAG.binary |
      (wanted.parity === "none" ? 0 : FLAG.parity) |
      (control(wanted.dtr, before.dtr) << DTR_SHIFT) |
      (control(wanted.rts, before.rts) << RTS_SHIFT),
    true,
  );
  // Without flow control these do nothing, but a driver may refuse the block when they do not fit its buffer.
  view.setUint16(AT.xonLim, 2048, true);
  view.setUint16(AT.xoffLim, 512, true);
  view.setUint8(AT.xon, 0x11);
  view.setUint8(AT.xoff, 0x13);
  view.setUint8(AT.byteSize, wanted.dataBits);
  view.setUint8(AT.parity, PARITIES.indexOf(wanted.parity));
  view.setUint8(AT.stopBits, STOP_BITS.indexOf(wanted.stopBits));
  return dcb;
}

/** Why a driver may have refused a frame: the 16550's own rules, which most Windows drivers apply. */
export function frameHint(settings: LineSettings): string {
  if (settings.stopBits === 1.5 && settings.dataBits !== 5) return "1.5 stop bits go with 5 data bits only";
  if (settings.stopBits === 2 && settings.dataBits === 5) return "5 data bits go with 1 or 1.5 stop bits";
  return "try a baud rate and a frame that this adapter knows";
}
