import { DARWIN } from "./abi.ts";
import { libc } from "./libc.ts";
import type { LineCodec } from "./line_codec.ts";
import { darwinLine } from "./termios_darwin.ts";
import { linuxLine } from "./termios_linux.ts";

/** The line settings of this system. */
export const line: LineCodec = libc.abi === DARWIN ? darwinLine : linuxLine;
