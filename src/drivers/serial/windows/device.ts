import { PortError } from "../port.ts";
import { DCB_BYTES, newDcb } from "./dcb.ts";
import { isFailure, type Phase, portError, STATUS_PENDING, win32OfStatus } from "./errors.ts";
import { bytesOf, type Handle, holding, wide, type Win32 } from "./win32.ts";
import { Waiter } from "./wait.ts";

/** How one transfer ended: an NTSTATUS, and the bytes that went, which also a cancelled transfer reports. */
export interface Transfer {
  status: number;
  bytes: number;
}

/** Functions of `EscapeCommFunction` (Microsoft Learn). */
export const ESCAPE = { setRts: 3, clearRts: 4, setDtr: 5, clearDtr: 6, setBreak: 8, clearBreak: 9 } as const;
/** Bits of `GetCommModemStatus`. */
export const MODEM = { cts: 0x10, dsr: 0x20, ri: 0x40, dcd: 0x80 } as const;
/** Bits of `PurgeComm`. The abort bits end transfers, the clear bits empty the driver's buffers. */
export const PURGE = { txAbort: 1, rxAbort: 2, txClear: 4, rxClear: 8 } as const;

/** Bytes of one transfer at most. A driver that reports nothing for a cancelled write hides at most this much. */
export const CHUNK = 16_384;

/**
 * An open communications device: what the port logic needs of Windows and nothing else, so that it can be tested with
 * a written-down device on any system. All but the transfers and `close` answer at once or throw {@link PortError}.
 */
export interface CommDevice {
  readonly path: string;
  /** Filled by `read`; valid until the next one. */
  readonly readBuffer: Uint8Array;
  /** The DCB as the driver has it now; `phase` says what a refusal means. */
  getState(phase: Phase): Uint8Array;
  setState(dcb: Uint8Array<ArrayBuffer>): void;
  /** Sets the rate and nothing else: `SetCommState` would set DTR and RTS along with it. */
  setBaudRate(baudRate: number): void;
  escape(code: number): void;
  /** CTS, DSR, RI, DCD: bits of {@link MODEM}. */
  modemStatus(): number;
  /** DTR and RTS as the driver has them; undefined where it cannot tell. */
  outputLines(): { dtr: boolean; rts: boolean } | undefined;
  /** Bytes waiting in the driver; clears the driver's error state. */
  queues(): { inQueue: number; outQueue: number };
  purge(bits: number): void;
  /** At most one read and one write at a time. Ends when exactly `length` bytes came (no timeouts are set). */
  read(length: number): Promise<Transfer>;
  write(bytes: Uint8Array): Promise<Transfer>;
  /** Asks the driver to end the write under way, if there is one; `write` then resolves. */
  cancelWrite(): void;
  /** Asks the driver to end the transfers under way; resolves when they ended or after `graceMs`. */
  cancel(graceMs: number): Promise<void>;
  close(): Promise<void>;
}

// CTL_CODE(FILE_DEVICE_SERIAL_PORT, n, METHOD_BUFFERED, FILE_ANY_ACCESS) of ntddser.h.
const IOCTL = { setBaudRate: 0x001b_0004, getDtrRts: 0x001b_0078 };
const DTR_STATE = 1;
const RTS_STATE = 2;

const INFINITE = 0xffff_ffff;
const WAIT_FAILED = 0xffff_ffff;
/** The longest that a control request may hold up the program. */
const CONTROL_TIMEOUT_MS = 2000;
/** How long closing a handle may take; it happens on another thread. */
const CLOSE_GRACE_MS = 1000;

let waiter: Waiter | undefined;

/** The waiter of the whole process. */
export const sharedWaiter = (win: Win32): Waiter =>
  waiter ??= new Waiter({
    createWake: () => win.kernel32.CreateEventW(null, 0, 0, null),
    setEvent: (event) => void win.kernel32.SetEvent(event),
    waitAny: async (handles) => {
      const memory = bytesOf(handles);
      const result = await holding([memory], win.kernel32.WaitForMultipleObjects(handles.length, memory, 0, INFINITE));
      return result !== WAIT_FAILED;
    },
  });

const TRANSFER_CALLS = { read: "NtReadFile", write: "NtWriteFile" } as const;

/**
 * One direction of a device. The kernel writes to the status block and the buffer while a transfer is under way, so
 * they are `ArrayBuffer`s of their own (these never move) and live as long as the waiter holds the channel.
 */
class Channel {
  readonly event: Handle;
  readonly buffer: Uint8Array<ArrayBuffer>;
  busy = false;
  readonly #win: Win32;
  readonly #direction: keyof typeof TRANSFER_CALLS;
  /** IO_STATUS_BLOCK: status at 0, bytes at 8. */
  readonly #status = new Uint32Array(new ArrayBuffer(16));
  // Real Windows refuses a transfer without an offset on an asynchronous handle; serial drivers ignore its value.
  readonly #offset = new ArrayBuffer(8);
  readonly #pointers: { status: Deno.PointerValue; buffer: Deno.PointerValue; offset: Deno.PointerValue };
  #ended: Promise<void> = Promise.resolve();

  constructor(win: Win32, direction: keyof typeof TRANSFER_CALLS) {
    this.#win = win;
    this.#direction = direction;
    this.event = win.kernel32.CreateEventW(null, 1, 0, null);
    this.buffer = new Uint8Array(new ArrayBuffer(CHUNK));
    this.#pointers = {
      status: Deno.UnsafePointer.of(this.#status.buffer),
      buffer: Deno.UnsafePointer.of(this.buffer.buffer),
      offset: Deno.UnsafePointer.of(this.#offset),
    };
  }

  done(): boolean {
    return this.#status[0] !== STATUS_PENDING;
  }

  async run(handle: Handle, length: number): Promise<Transfer> {
    this.busy = true;
    this.#status[0] = STATUS_PENDING;
    this.#status[2] = 0;
    const { status, buffer, offset } = this.#pointers;
    const start = this.#win.ntdll[TRANSFER_CALLS[this.#direction]];
    const result = start(handle, this.event, null, null, status, buffer, length, offset, null);
    if (result !== STATUS_PENDING) {
      this.busy = false;
      // A call that failed at once leaves the status block alone.
      return { status: result, bytes: isFailure(result) ? 0 : this.#status[2] ?? 0 };
    }
    this.#ended = sharedWaiter(this.#win).wait(this);
    await this.#ended;
    this.busy = false;
    return { status: this.#status[0] ?? 0, bytes: this.#status[2] ?? 0 };
  }

  cancel(handle: Handle): Promise<void> {
    if (!this.busy) return Promise.resolve();
    this.#win.ntdll.NtCancelIoFileEx(handle, this.#pointers.status, new Uint8Array(16));
    return this.#ended;
  }

  /** Gives the event back; not while the kernel may still signal it. */
  free(): void {
    if (!this.busy) this.#win.kernel32.CloseHandle(this.event);
  }
}

/** A real device. It owns the handle that {@link openDevice} made. */
export class NativeDevice implements CommDevice {
  readonly path: string;
  readonly #win: Win32;
  readonly #handle: Handle;
  readonly #reading: Channel;
  readonly #writing: Channel;
  readonly #controlEvent: Handle;
  readonly #controlStatus = new Uint32Array(new ArrayBuffer(16));
  readonly #controlData = new Uint32Array(new ArrayBuffer(8));
  #controlStuck = false;

  constructor(win: Win32, handle: Handle, path: string) {
    this.#win = win;
    this.#handle = handle;
    this.path = path;
    this.#reading = new Channel(win, "read");
    this.#writing = new Channel(win, "write");
    this.#controlEvent = win.kernel32.CreateEventW(null, 1, 0, null);
  }

  get readBuffer(): Uint8Array {
    return this.#reading.buffer;
  }

  #must(ok: number, call: string, phase: Phase): void {
    if (ok === 0) throw portError(call, this.path, this.#win.kernel32.GetLastError(), phase);
  }

  getState(phase: Phase): Uint8Array {
    const dcb = newDcb();
    this.#must(this.#win.kernel32.GetCommState(this.#handle, dcb), "ask the settings of", phase);
    return dcb;
  }

  setState(dcb: Uint8Array<ArrayBuffer>): void {
    if (dcb.length !== DCB_BYTES) throw new TypeError(`A DCB has ${DCB_BYTES} bytes, not ${dcb.length}`);
    this.#must(this.#win.kernel32.SetCommState(this.#handle, dcb), "set the frame of", "settings");
  }

  /**
   * Large driver buffers, and reads and writes without time limits. A driver that refuses the buffer size keeps its
   * own, which is all right.
   */
  prepare(): void {
    this.#win.kernel32.SetupComm(this.#handle, 65_536, 65_536);
    // COMMTIMEOUTS: five zeros, "total and interval time-outs are not used".
    this.#must(this.#win.kernel32.SetCommTimeouts(this.#handle, new Uint8Array(20)), "set up", "probe");
  }

  setBaudRate(baudRate: number): void {
    this.#controlData[0] = baudRate;
    const status = this.#control(IOCTL.setBaudRate, 4, 0);
    if (isFailure(status)) throw portError("set the baud rate of", this.path, win32OfStatus(status), "settings");
  }

  escape(code: number): void {
    this.#must(this.#win.kernel32.EscapeCommFunction(this.#handle, code), "set the lines of", "lines");
  }

  modemStatus(): number {
    const bits = new Uint32Array(1);
    const ok = this.#win.kernel32.GetCommModemStatus(this.#handle, bytesOf(bits));
    this.#must(ok, "ask the modem lines of", "lines");
    return bits[0] ?? 0;
  }

  outputLines(): { dtr: boolean; rts: boolean } | undefined {
    this.#controlData[0] = 0;
    if (this.#controlStuck || isFailure(this.#control(IOCTL.getDtrRts, 0, 4))) return undefined;
    const bits = this.#controlData[0] ?? 0;
    return { dtr: (bits & DTR_STATE) !== 0, rts: (bits & RTS_STATE) !== 0 };
  }

  queues(): { inQueue: number; outQueue: number } {
    const errors = new Uint32Array(1);
    const comStat = new Uint32Array(3);
    const ok = this.#win.kernel32.ClearCommError(this.#handle, bytesOf(errors), bytesOf(comStat));
    this.#must(ok, "ask the state of", "io");
    return { inQueue: comStat[1] ?? 0, outQueue: comStat[2] ?? 0 };
  }

  purge(bits: number): void {
    this.#must(this.#win.kernel32.PurgeComm(this.#handle, bits), "flush", "io");
  }

  read(length: number): Promise<Transfer> {
    return this.#reading.run(this.#handle, Math.min(length, CHUNK));
  }

  write(bytes: Uint8Array): Promise<Transfer> {
    const length = Math.min(bytes.length, CHUNK);
    this.#writing.buffer.set(bytes.subarray(0, length));
    return this.#writing.run(this.#handle, length);
  }

  cancelWrite(): void {
    void this.#writing.cancel(this.#handle);
  }

  cancel(graceMs: number): Promise<void> {
    const ended = Promise.all([this.#reading.cancel(this.#handle), this.#writing.cancel(this.#handle)]);
    return atMost(graceMs, ended);
  }

  /** Resolves when the port is free again, or after {@link CLOSE_GRACE_MS}: then the driver goes on by itself. */
  close(): Promise<void> {
    return atMost(CLOSE_GRACE_MS, this.#close());
  }

  async #close(): Promise<void> {
    await this.#win.ntdll.NtClose(this.#handle);
    this.#reading.free();
    this.#writing.free();
    if (!this.#controlStuck) this.#win.kernel32.CloseHandle(this.#controlEvent);
  }

  /** A control request with its own event: waiting on the handle itself would be ended by any read or write. */
  #control(code: number, inBytes: number, outBytes: number): number {
    if (this.#controlStuck) throw new PortError("lost", `${this.path} no longer answers to control requests`);
    this.#controlStatus[0] = STATUS_PENDING;
    const data = Deno.UnsafePointer.of(this.#controlData.buffer);
    const status = this.#win.ntdll.NtDeviceIoControlFile(
      this.#handle,
      this.#controlEvent,
      null,
      null,
      Deno.UnsafePointer.of(this.#controlStatus.buffer),
      code,
      inBytes > 0 ? data : null,
      inBytes,
      outBytes > 0 ? data : null,
      outBytes,
    );
    if (status !== STATUS_PENDING) return status;
    this.#win.kernel32.WaitForSingleObject(this.#controlEvent, CONTROL_TIMEOUT_MS);
    const ended = this.#controlStatus[0] ?? STATUS_PENDING;
    if (ended === STATUS_PENDING) {
      // The driver may still write to our memory: it stays, and is never used for another request.
      this.#controlStuck = true;
      stuck.add(this);
      throw new PortError("io", `${this.path} did not answer to a control request within ${CONTROL_TIMEOUT_MS} ms`);
    }
    return ended;
  }
}

/** Waits for `work`, but not longer than `ms`. */
async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** Devices whose memory a driver never gave back. */
const stuck = new Set<NativeDevice>();

const GENERIC_READ_WRITE_SYNCHRONIZE = 0xc010_0080;
const FILE_OPEN = 1;
const FILE_NON_DIRECTORY_FILE = 0x40;
const OBJ_CASE_INSENSITIVE = 0x40;

/**
 * Opens the device of a port for overlapped transfers and exclusive use. Runs on another thread: a Bluetooth port
 * takes seconds to open. Throws {@link PortError}.
 */
export async function openDevice(win: Win32, path: string, name: string): Promise<NativeDevice> {
  const text = wide(`\\??\\${name}`);
  const textBytes = (text.length - 1) * 2;
  // UNICODE_STRING: Length, MaximumLength, Buffer at 8.
  const unicode = new ArrayBuffer(16);
  const unicodeView = new DataView(unicode);
  unicodeView.setUint16(0, textBytes, true);
  unicodeView.setUint16(2, textBytes + 2, true);
  unicodeView.setBigUint64(8, BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(text.buffer))), true);
  // OBJECT_ATTRIBUTES: Length, ObjectName at 16, Attributes at 24.
  const attributes = new ArrayBuffer(48);
  const attributesView = new DataView(attributes);
  attributesView.setUint32(0, 48, true);
  attributesView.setBigUint64(16, BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(unicode))), true);
  attributesView.setUint32(24, OBJ_CASE_INSENSITIVE, true);
  const handle = new BigUint64Array(new ArrayBuffer(8));
  const statusBlock = new Uint8Array(new ArrayBuffer(16));
  const status = await holding(
    [text, unicode, attributes, handle, statusBlock],
    win.ntdll.NtCreateFile(
      bytesOf(handle),
      GENERIC_READ_WRITE_SYNCHRONIZE,
      new Uint8Array(attributes),
      statusBlock,
      null,
      0,
      0, // no sharing: exclusive
      FILE_OPEN,
      FILE_NON_DIRECTORY_FILE, // and neither of the synchronous options: transfers are overlapped
      null,
      0,
    ),
  );
  if (isFailure(status)) throw portError("open", path, win32OfStatus(status), "open");
  return new NativeDevice(win, handle[0] ?? 0n, path);
}
