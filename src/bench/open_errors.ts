import { BenchError, CODE, failed } from "../core/errors.ts";
import { PortError } from "../drivers/serial/port.ts";

/** The group that owns a device file, by name; undefined when that cannot be told. */
const groupOf = (path: string): string | undefined => {
  try {
    const gid = Deno.statSync(path).gid;
    const row = Deno.readTextFileSync("/etc/group").split("\n").map((line) => line.split(":")).find((r) =>
      r[2] === String(gid)
    );
    return row?.[0];
  } catch {
    return undefined;
  }
};

/** The command that lets this user open the port. */
export const permissionRemedy = (path: string, os: string = Deno.build.os): string => {
  if (os === "windows") {
    return "Close other programs that use it, or start Fieldbench with the rights that its driver asks for.";
  }
  const group = os === "linux" ? groupOf(path) : undefined;
  // root's own group gives nothing: a rule or another group is what mends it.
  if (group === undefined || group === "root") return `Run: sudo chmod a+rw ${path}`;
  return `Run: sudo usermod -aG ${group} "$USER" and log in again (until then: sudo chmod a+rw ${path}).`;
};

/** The driver's own words; most name the port already. */
const naming = (path: string, { message }: PortError): string =>
  message.includes(path) ? message : `${path}: ${message}`;

/** What a caller is told when a port could not be opened. Anything but a failure of the driver is a bug of ours. */
export const openFailure = (error: unknown, path: string): BenchError => {
  if (error instanceof BenchError) return error;
  if (!(error instanceof PortError)) {
    return new BenchError(
      CODE.internal,
      `Internal error while opening ${path}. It was written to the log channel "app".`,
      {
        cause: error,
      },
    );
  }
  switch (error.kind) {
    case "in_use":
      return failed(
        "in_use",
        error.holder ? `${path} is in use by ${error.holder}.` : `${path} is in use by another program.`,
        "Close it there, or choose another port with serial_select_port.",
      );
    case "not_found":
      return failed(
        "no_device",
        `${path} is not there: unplugged, or it has another name now.`,
        "Plug it in, or see portOptions in serial_get_state.",
      );
    case "no_permission":
      return failed("no_permission", `No permission to open ${path}.`, permissionRemedy(path));
    case "not_a_port":
      return failed(
        "unsupported",
        `${path} is not a serial port.`,
        "Choose one of portOptions in serial_get_state.",
      );
    case "unsupported":
      return failed(
        "unsupported",
        `${naming(path, error)}.`,
        "Set what the port can do with serial_set_frame or serial_set_baud.",
      );
    case "canceled":
      return failed("canceled", `Opening ${path} was canceled.`);
    case "lost":
    case "io":
      return failed(
        "no_device",
        `${naming(path, error)}.`,
        "The device or its driver is in trouble: unplug it, plug it in again, then serial_open.",
      );
  }
};
