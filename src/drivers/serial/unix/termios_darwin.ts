import { type DataBits, type LineSettings, type Parity, PortError } from "../port.ts";
import { ENOTTY } from "./abi.ts";
import { libc } from "./libc.ts";
import type { Handle, LineCodec } from "./line_codec.ts";
import { callError, openError } from "./sys_error.ts";

/*
 * Unproved: written to xnu's sys/termios.h and IOKit/serial/ioss.h, never run.
 * struct termios, 72 bytes: c_iflag, c_oflag, c_cflag, c_lflag (u64 each), c_cc[20] at 32, c_ispeed and c_ospeed (u64)
 * at 56 and 64. Speeds are plain numbers, but tcsetattr takes only the classic ones: any other goes by IOSSIOSPEED.
 */
const SIZE = 72;
const IFLAG = 0;
const OFLAG = 8;
const CFLAG = 16;
const LFLAG = 24;
const CC = 32;
const VMIN = 16;
const VTIME = 17;
const ISPEED = 56;
const OSPEED = 64;
const TCSANOW = 0;
const IOSSIOSPEED = 0x80085402;

const CSIZE = 0x300;
const CSTOPB = 0x400;
const CREAD = 0x800;
const PARENB = 0x1000;
const PARODD = 0x2000;
const HUPCL = 0x4000;
const CLOCAL = 0x8000;
/** CCTS_OFLOW and CRTS_IFLOW. */
const CRTSCTS = 0x30000;

const SIZE_BITS: Readonly<Record<DataBits, number>> = { 5: 0, 6: 0x100, 7: 0x200, 8: 0x300 };
const DATA_BITS: Readonly<Record<number, DataBits>> = { 0: 5, 0x100: 6, 0x200: 7, 0x300: 8 };

/** The rates of `<sys/termios.h>`. */
const CLASSIC: ReadonlySet<number> = new Set([
  50,
  75,
  110,
  134,
  150,
  200,
  300,
  600,
  1200,
  1800,
  2400,
  4800,
  7200,
  9600,
  14400,
  19200,
  28800,
  38400,
  57600,
  76800,
  115200,
  230400,
]);
/** Stands in the structure while IOSSIOSPEED sets the real rate. */
const STAND_IN = 9600;

class Termios {
  readonly bytes = new Uint8Array(SIZE);
  readonly #view = new DataView(this.bytes.buffer);
  get(offset: number): number {
    return Number(this.#view.getBigUint64(offset, true));
  }
  set(offset: number, value: number): void {
    this.#view.setBigUint64(offset, BigInt(value >>> 0), true);
  }
}

const fetch = ({ fd, path }: Handle): Termios => {
  const termios = new Termios();
  if (libc.tcgetattr(fd, termios.bytes) >= 0) return termios;
  const errno = libc.errno();
  if (errno === ENOTTY) throw openError(path, errno, "tcgetattr");
  throw callError(path, errno, "reading the line settings");
};

const storeWithSpeed = ({ fd, path }: Handle, termios: Termios, baudRate: number): void => {
  const classic = CLASSIC.has(baudRate);
  termios.set(ISPEED, classic ? baudRate : STAND_IN);
  termios.set(OSPEED, classic ? baudRate : STAND_IN);
  if (libc.tcsetattr(fd, TCSANOW, termios.bytes) < 0) throw callError(path, libc.errno(), "these line settings");
  if (classic) return;
  const speed = new Uint8Array(8);
  new DataView(speed.buffer).setBigUint64(0, BigInt(baudRate), true);
  if (libc.ioctl(fd, IOSSIOSPEED, speed) < 0) throw callError(path, libc.errno(), `${baudRate} baud`);
};

const parityOf = (cflag: number): Parity => {
  if ((cflag & PARENB) === 0) return "none";
  return cflag & PARODD ? "odd" : "even";
};

/** Mark and space never come here: `refuse` has stopped them. */
const PARITY_BITS: Readonly<Record<Parity, number>> = {
  none: 0,
  even: PARENB,
  odd: PARENB | PARODD,
  mark: 0,
  space: 0,
};

const decode = (termios: Termios): LineSettings => {
  const cflag = termios.get(CFLAG);
  return {
    baudRate: termios.get(OSPEED),
    dataBits: DATA_BITS[cflag & CSIZE] ?? 8,
    stopBits: cflag & CSTOPB ? 2 : 1,
    parity: parityOf(cflag),
  };
};

/** macOS by tcgetattr, tcsetattr and IOSSIOSPEED. Unproved. */
export const darwinLine: LineCodec = {
  read: (handle) => decode(fetch(handle)),

  refuse(path, { stopBits, parity }) {
    if (stopBits === 1.5) {
      throw new PortError("unsupported", `${path}: macOS has no setting for 1.5 stop bits; choose 1 or 2`);
    }
    if (parity === "mark" || parity === "space") {
      throw new PortError("unsupported", `${path}: macOS has no ${parity} parity`);
    }
  },

  apply(handle, settings) {
    const termios = fetch(handle);
    termios.set(IFLAG, 0);
    termios.set(OFLAG, 0);
    termios.set(LFLAG, 0);
    const kept = termios.get(CFLAG) & ~(CSIZE | CSTOPB | PARENB | PARODD | CRTSCTS | HUPCL);
    const stop = settings.stopBits === 2 ? CSTOPB : 0;
    termios.set(CFLAG, kept | SIZE_BITS[settings.dataBits] | PARITY_BITS[settings.parity] | stop | CREAD | CLOCAL);
    termios.bytes[CC + VMIN] = 1;
    termios.bytes[CC + VTIME] = 0;
    storeWithSpeed(handle, termios, settings.baudRate);
  },

  setBaudRate(handle, baudRate) {
    storeWithSpeed(handle, fetch(handle), baudRate);
  },
};
