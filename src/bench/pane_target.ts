import { type BenchError, failed, invalid } from "../core/errors.ts";
import type { PortInfo } from "../drivers/serial/port.ts";
import type { PaneSettings } from "./pane_settings.ts";
import { describeWanted, type WantedPort } from "./port_match.ts";
import type { Ports } from "./ports.ts";

export interface Target {
  info: PortInfo;
  wanted: WantedPort;
}

const MAX_NAMED = 12;

/** Port values for a message: the first dozen and how many more. */
export const namedPorts = (values: readonly string[]): string => {
  const more = values.length - MAX_NAMED;
  return values.slice(0, MAX_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
};

/** A name that is wrong is told back, but no page of it. */
export const MAX_ECHO_CHARS = 200;

/** A value that no listing knows: -32602 with the real ones. */
export const unknownPort = async (ports: Ports, value: string): Promise<BenchError> => {
  const values = (await ports.list()).map((p) => p.path);
  const real = values.length === 0 ? "There is no port now." : `Choose one of: ${namedPorts(values)}.`;
  return invalid(`Unknown port ${value.slice(0, MAX_ECHO_CHARS)}. ${real}`, { ports: values.slice(0, 64) });
};

const gone = (value: string): BenchError =>
  failed(
    "no_device",
    `${value} is not there: unplugged, or it has another name now.`,
    "Plug it in, or choose another port: portOptions in serial_get_state.",
  );

/** The port of this value, chosen anew. Throws -32602 for an unknown value, reason `no_device` for one that is gone. */
export const targetOf = async (ports: Ports, value: string, settings: PaneSettings): Promise<Target> => {
  const found = await ports.resolve(value);
  if (found) return found;
  if (value === settings.port || ports.wasSeen(value)) {
    // The device that was chosen by this name may have come back under another one.
    if (value === settings.port && settings.wanted) return await chosenTarget(ports, settings);
    throw gone(value);
  }
  throw await unknownPort(ports, value);
};

/** The port that is chosen already: the same device, also under another name, and never another one. */
export const chosenTarget = async (ports: Ports, settings: PaneSettings): Promise<Target> => {
  const { port, wanted } = settings;
  if (port === "") throw await nothingChosen(ports);
  if (!wanted) {
    const found = await ports.resolve(port);
    if (found) return found;
    throw gone(port);
  }
  const match = await ports.match(wanted);
  if (match.found === "one") {
    const stays = wanted.kind !== "usb" || ports.isStableName(wanted.path);
    return { info: match.port, wanted: stays ? wanted : { ...wanted, path: match.port.path } };
  }
  if (match.found === "several") {
    throw failed(
      "no_device",
      `Several devices look like ${describeWanted(wanted)}: ${namedPorts(match.ports.map((p) => p.path))}.`,
      "Choose one with serial_select_port.",
    );
  }
  const other = (await ports.list()).find((p) => p.path === port);
  if (!other) throw gone(port);
  throw failed(
    "no_device",
    `The device that was chosen, ${
      describeWanted(wanted)
    }, is unplugged; ${port} is another one now (${other.friendlyName}).`,
    `If that is the one you want: serial_open {port:"${port}"}.`,
  );
};

const nothingChosen = async (ports: Ports): Promise<BenchError> => {
  const values = (await ports.list()).map((p) => p.path);
  return values.length === 0
    ? failed(
      "no_device",
      "This computer has no serial port now.",
      "Plug an adapter in, give one with --port-path LABEL=PATH, or start with --demo for a virtual device.",
    )
    : failed("no_device", "No port is chosen yet.", `serial_open with port, one of: ${namedPorts(values)}.`);
};
