import type { LineSettings } from "../port.ts";

/** An open descriptor and the name to speak of in errors. */
export interface Handle {
  readonly fd: number;
  readonly path: string;
}

/** Line settings in and out of the kernel's termios structure. Every method throws `PortError`. */
export interface LineCodec {
  /** What the driver has now. Kind `not_a_port` when the descriptor is no tty. */
  read(handle: Handle): LineSettings;
  /** Throws kind `unsupported` for what this system can never do, before a port is touched. */
  refuse(path: string, settings: LineSettings): void;
  /**
   * Raw mode with these settings, no flow control, and no drop of DTR at close. What a driver cannot do and says so is
   * refused with kind `unsupported`; what it changes in silence shows in the next {@link read}.
   */
  apply(handle: Handle, settings: LineSettings): void;
  /** Changes the rate and nothing else. */
  setBaudRate(handle: Handle, baudRate: number): void;
}
