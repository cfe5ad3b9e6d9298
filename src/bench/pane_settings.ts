import { z } from "zod";
import type { appliedEntry, viewMode } from "../../tools/device/serial.ts";
import type { LineAtOpen, LineSettings } from "../drivers/serial/port.ts";
import { type PaneConfig, paneConfig } from "../store/config.ts";
import type { WantedPort } from "./port_match.ts";

export type { DataBits, StopBits } from "../drivers/serial/port.ts";
export type Applied = z.infer<typeof appliedEntry>;
export type ViewMode = z.infer<typeof viewMode>;
export type LineEnding = "crlf" | "lf" | "cr" | "none";

/** Everything that a person or an agent sets on a pane, and that outlives the program. */
export interface PaneSettings extends LineSettings {
  /** Name that a person gave the pane; empty: none. */
  label: string;
  /** Chosen port; empty: none yet. */
  port: string;
  /** The device behind `port` when it was chosen. */
  wanted: WantedPort | undefined;
  /** What happens to the modem lines when the port is opened. */
  dtr: LineAtOpen;
  rts: LineAtOpen;
  viewMode: ViewMode;
  lineEnding: LineEnding;
  sendAs: "text" | "hex";
  autoScroll: boolean;
  autoReconnect: boolean;
  lineNum: boolean;
  timestamp: boolean;
  echo: boolean;
  terminalMode: boolean;
  lineBuf: boolean;
  advOpen: boolean;
  /** Pause after each character sent, ms. */
  charDelayMs: number;
  /** Pause after each line sent, ms. */
  lineDelayMs: number;
}

export const defaultSettings = (): PaneSettings => ({
  label: "",
  port: "",
  wanted: undefined,
  baudRate: 115200,
  dataBits: 8,
  stopBits: 1,
  parity: "none",
  dtr: "high",
  rts: "high",
  viewMode: "text",
  lineEnding: "crlf",
  sendAs: "text",
  autoScroll: true,
  autoReconnect: true,
  lineNum: false,
  timestamp: true,
  echo: true,
  terminalMode: false,
  lineBuf: false,
  advOpen: false,
  charDelayMs: 0,
  lineDelayMs: 0,
});

const kept = z.looseObject({ kind: z.enum(["usb", "platform", "virtual"]) });
const label = z.string().max(64).catch("");

/** A kept pane with the defaults for what is absent. Settings that do not fit are left out, one by one. */
export const settingsFrom = (config: unknown): PaneSettings => {
  const settings = defaultSettings();
  const found = z.record(z.string(), z.unknown()).catch({}).parse(config);
  const shape: Record<string, z.ZodType> = paneConfig.shape;
  const good = Object.fromEntries(
    Object.entries(found).filter(([key, value]) => shape[key]?.safeParse(value).success ?? true),
  );
  const { port, identity, baud, ...rest } = paneConfig.parse(good);
  const kind = kept.safeParse(identity).data?.kind;
  const device = identity && kind && port ? wantedFrom(port, kind, identity) : undefined;
  return Object.assign(settings, {
    label: label.parse(found["label"]),
    ...(port !== undefined && { port }),
    ...(device && { wanted: device }),
    ...(baud !== undefined && { baudRate: baud }),
    ...pick(rest),
  });
};

const wantedFrom = (
  path: string,
  kind: WantedPort["kind"],
  identity: NonNullable<PaneConfig["identity"]>,
): WantedPort => ({
  path,
  kind,
  ...(identity.vendorId !== undefined && { vendorId: identity.vendorId }),
  ...(identity.productId !== undefined && { productId: identity.productId }),
  ...(identity.serialNumber !== undefined && { serialNumber: identity.serialNumber }),
  ...(identity.location !== undefined && { location: identity.location }),
  ...(identity.interfaceNumber !== undefined && { interfaceNumber: identity.interfaceNumber }),
});

const PLAIN = [
  "dataBits",
  "stopBits",
  "parity",
  "dtr",
  "rts",
  "lineEnding",
  "sendAs",
  "viewMode",
  "autoScroll",
  "autoReconnect",
  "lineNum",
  "timestamp",
  "echo",
  "terminalMode",
  "lineBuf",
  "advOpen",
  "charDelayMs",
  "lineDelayMs",
] as const;

const pick = (config: PaneConfig): Partial<PaneSettings> =>
  Object.fromEntries(PLAIN.filter((key) => config[key] !== undefined).map((key) => [key, config[key]]));

/** The pane as it is kept in the configuration. */
export const configOf = (settings: PaneSettings): PaneConfig => {
  const { path: _path, ...identity } = settings.wanted ?? { path: "" };
  return {
    ...Object.fromEntries(PLAIN.map((key) => [key, settings[key]])),
    port: settings.port,
    baud: settings.baudRate,
    ...(settings.wanted && { identity }),
    ...(settings.label !== "" && { label: settings.label }),
  };
};

export interface DisplayChanges {
  viewMode?: ViewMode | undefined;
  lineEnding?: LineEnding | undefined;
  echo?: boolean | undefined;
  lineNum?: boolean | undefined;
  timestamp?: boolean | undefined;
  autoScroll?: boolean | undefined;
  autoReconnect?: boolean | undefined;
  terminalMode?: boolean | undefined;
  lineBuf?: boolean | undefined;
  advOpen?: boolean | undefined;
}

/** A terminal draws the device's own screen: these have no meaning there. */
const NOT_IN_TERMINAL: readonly string[] = ["lineNum", "timestamp", "echo"];

const set = <K extends keyof DisplayChanges>(settings: PaneSettings, changes: DisplayChanges, name: K): Applied => {
  const from = settings[name];
  const skipped = settings.terminalMode ? NOT_IN_TERMINAL.includes(name) : name === "lineBuf";
  if (skipped) return { name, ok: true, from, to: from, skipped: true };
  Object.assign(settings, { [name]: changes[name] });
  return { name, ok: true, from, to: settings[name] };
};

/**
 * Sets the switches that are named and says what each did. `terminalMode` goes first: it decides which of the others
 * can be used, so that one call can switch it and set what goes with it.
 */
export const applyDisplay = (settings: PaneSettings, changes: DisplayChanges): Applied[] => {
  const names = [
    "terminalMode",
    "viewMode",
    "lineEnding",
    "echo",
    "lineNum",
    "timestamp",
    "autoScroll",
    "autoReconnect",
    "lineBuf",
    "advOpen",
  ] as const;
  return names.filter((name) => changes[name] !== undefined).map((name) => set(settings, changes, name));
};

/** `115200 8N1`, as people say it. */
export const frameText = (line: LineSettings): string =>
  `${line.baudRate} ${line.dataBits}${
    line.parity === "none" ? "N" : line.parity.charAt(0).toUpperCase()
  }${line.stopBits}`;

/** What the driver made of the settings where it differs from what was asked, in words; undefined when nothing does. */
export const mismatch = (asked: LineSettings, real: LineSettings): string | undefined => {
  const words: string[] = [];
  if (asked.baudRate !== real.baudRate) words.push(`baud rate ${asked.baudRate} asked, ${real.baudRate} set`);
  if (asked.dataBits !== real.dataBits) words.push(`${asked.dataBits} data bits asked, ${real.dataBits} set`);
  if (asked.parity !== real.parity) words.push(`parity ${asked.parity} asked, ${real.parity} set`);
  if (asked.stopBits !== real.stopBits) words.push(`${asked.stopBits} stop bits asked, ${real.stopBits} set`);
  return words.length === 0 ? undefined : `the driver did not take everything: ${words.join("; ")}`;
};
