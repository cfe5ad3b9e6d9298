import { type DataBits, type LineSettings, type Parity, PortError } from "../port.ts";
import { EIO, ENOTTY } from "./abi.ts";
import { libc } from "./libc.ts";
import type { Handle, LineCodec } from "./line_codec.ts";
import { callError, lost, openError } from "./sys_error.ts";

/*
 * struct termios2 (linux/include/uapi/asm-generic/termbits.h), 44 bytes: c_iflag, c_oflag, c_cflag, c_lflag (u32 each),
 * c_line (u8), c_cc[19], c_ispeed, c_ospeed (u32 each). With BOTHER the speeds are plain numbers: any rate.
 */
const TCGETS2 = 0x802c542a;
const TCSETS2 = 0x402c542b;
const SIZE = 44;
const IFLAG = 0;
const OFLAG = 4;
const CFLAG = 8;
const LFLAG = 12;
const CC = 17;
const VTIME = 5;
const VMIN = 6;
const ISPEED = 36;
const OSPEED = 40;

const CBAUD = 0o010017;
const BOTHER = 0o010000;
const CIBAUD = 0o2003600000;
const CSIZE = 0o60;
const CSTOPB = 0o100;
const CREAD = 0o200;
const PARENB = 0o400;
const PARODD = 0o1000;
const HUPCL = 0o2000;
const CLOCAL = 0o4000;
const CMSPAR = 0o10000000000;
const CRTSCTS = 0o20000000000;

const SIZE_BITS: Readonly<Record<DataBits, number>> = { 5: 0, 6: 0o20, 7: 0o40, 8: 0o60 };
const DATA_BITS: Readonly<Record<number, DataBits>> = { 0: 5, 0o20: 6, 0o40: 7, 0o60: 8 };
const PARITY_BITS: Readonly<Record<Parity, number>> = {
  none: 0,
  even: PARENB,
  odd: PARENB | PARODD,
  space: PARENB | CMSPAR,
  mark: PARENB | PARODD | CMSPAR,
};

class Termios2 {
  readonly bytes = new Uint8Array(SIZE);
  readonly #view = new DataView(this.bytes.buffer);
  get(offset: number): number {
    return this.#view.getUint32(offset, true);
  }
  set(offset: number, value: number): void {
    this.#view.setUint32(offset, value >>> 0, true);
  }
}

const fetch = ({ fd, path }: Handle): Termios2 => {
  const termios = new Termios2();
  if (libc.ioctl(fd, TCGETS2, termios.bytes) >= 0) return termios;
  const errno = libc.errno();
  if (errno === ENOTTY) throw openError(path, errno, "TCGETS2");
  // Also a ttyS name without a chip behind it answers EIO, and so does a line that was hung up.
  throw errno === EIO ? lost(path) : callError(path, errno, "reading the line settings");
};

const store = ({ fd, path }: Handle, termios: Termios2): void => {
  if (libc.ioctl(fd, TCSETS2, termios.bytes) < 0) throw callError(path, libc.errno(), "these line settings");
};

const parityOf = (cflag: number): Parity => {
  if ((cflag & PARENB) === 0) return "none";
  const odd = (cflag & PARODD) !== 0;
  if ((cflag & CMSPAR) !== 0) return odd ? "mark" : "space";
  return odd ? "odd" : "even";
};

const decode = (termios: Termios2): LineSettings => {
  const cflag = termios.get(CFLAG);
  return {
    baudRate: termios.get(OSPEED),
    dataBits: DATA_BITS[cflag & CSIZE] ?? 8,
    stopBits: cflag & CSTOPB ? 2 : 1,
    parity: parityOf(cflag),
  };
};

const putSpeed = (termios: Termios2, baudRate: number): void => {
  termios.set(CFLAG, (termios.get(CFLAG) & ~(CBAUD | CIBAUD)) | BOTHER);
  termios.set(ISPEED, baudRate);
  termios.set(OSPEED, baudRate);
};

/** Linux by TCGETS2 and TCSETS2. */
export const linuxLine: LineCodec = {
  read: (handle) => decode(fetch(handle)),

  refuse(path, { stopBits }) {
    if (stopBits !== 1.5) return;
    throw new PortError(
      "unsupported",
      `${path}: Linux has no setting for 1.5 stop bits (termios knows 1 and 2); choose 2, which every receiver of 1.5 ` +
        `accepts`,
    );
  },

  apply(handle, settings) {
    const termios = fetch(handle);
    // Raw, and every byte as it came: no IGNPAR and no INPCK, which would drop or blank what arrives with an error.
    termios.set(IFLAG, 0);
    termios.set(OFLAG, 0);
    termios.set(LFLAG, 0);
    const kept = termios.get(CFLAG) & ~(CSIZE | CSTOPB | PARENB | PARODD | CMSPAR | CRTSCTS | HUPCL);
    const stop = settings.stopBits === 2 ? CSTOPB : 0;
    // HUPCL stays off: with it, DTR and RTS would fall at close and rise at the next open.
    termios.set(CFLAG, kept | SIZE_BITS[settings.dataBits] | PARITY_BITS[settings.parity] | stop | CREAD | CLOCAL);
    putSpeed(termios, settings.baudRate);
    termios.bytes[CC + VMIN] = 1;
    termios.bytes[CC + VTIME] = 0;
    store(handle, termios);
    const stick = settings.parity === "mark" || settings.parity === "space";
    if (stick && parityOf(fetch(handle).get(CFLAG)) !== settings.parity) {
      throw new PortError("unsupported", `${handle.path}: its driver has no ${settings.parity} parity`);
    }
  },

  setBaudRate(handle, baudRate) {
    const termios = fetch(handle);
    putSpeed(termios, baudRate);
    store(handle, termios);
  },
};
