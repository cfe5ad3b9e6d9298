import { isAbsolute } from "node:path";
import { z } from "zod";
import { LIMITS } from "../../tools/mod.ts";
import { JsonFile } from "./json_file.ts";

/** What is needed to know the pane's device again after a restart; see PortIdentity of the drivers. */
const identity = z.looseObject({
  vendorId: z.string().optional(),
  productId: z.string().optional(),
  serialNumber: z.string().optional(),
  location: z.string().optional(),
  interfaceNumber: z.string().optional(),
});

const lineAtOpen = z.enum(["high", "low", "leave"]);

/** Settings of a pane as they are kept; what is absent has its default. Unknown keys are kept as they are. */
export const paneConfig = z.looseObject({
  port: z.string().optional(),
  identity: identity.optional(),
  baud: z.int().min(LIMITS.minBaud).max(LIMITS.maxBaud).optional(),
  dataBits: z.union([z.literal(5), z.literal(6), z.literal(7), z.literal(8)]).optional(),
  stopBits: z.union([z.literal(1), z.literal(1.5), z.literal(2)]).optional(),
  parity: z.enum(["none", "even", "odd", "mark", "space"]).optional(),
  dtr: lineAtOpen.optional(),
  rts: lineAtOpen.optional(),
  lineEnding: z.enum(["crlf", "lf", "cr", "none"]).optional(),
  sendAs: z.enum(["text", "hex"]).optional(),
  viewMode: z.enum(["text", "hex"]).optional(),
  autoScroll: z.boolean().optional(),
  autoReconnect: z.boolean().optional(),
  lineNum: z.boolean().optional(),
  timestamp: z.boolean().optional(),
  echo: z.boolean().optional(),
  terminalMode: z.boolean().optional(),
  lineBuf: z.boolean().optional(),
  advOpen: z.boolean().optional(),
  /** Pause after each character and each line sent, in ms. */
  charDelayMs: z.number().min(0).max(10_000).optional(),
  lineDelayMs: z.number().min(0).max(60_000).optional(),
});
export type PaneConfig = z.infer<typeof paneConfig>;

/** A port that no listing shows: one path, or a glob such as `/dev/pts/*`. */
export const extraPort = z.looseObject({ label: z.string().min(1), path: z.string().min(1) });
export type ExtraPort = z.infer<typeof extraPort>;

const sessionLogConfig = z.looseObject({
  enabled: z.boolean().default(true),
  /** Bytes that a file may have before the next part begins. */
  maxBytes: z.int().min(4096).max(4 * 1024 ** 3).default(64 * 1024 * 1024),
  /** Parts that are kept of each pane. */
  keep: z.int().min(1).max(10_000).default(10),
  /** Another folder than `log-cache` in the configuration folder. */
  folder: z.string().refine(isAbsolute, "must be a whole path, from the root on").optional(),
});

/**
 * The user's settings, `config.json`. Nothing of MCP is ever in it (that is `mcp.json`). Keys that this version does
 * not know are kept, so that an older version does not destroy what a newer one wrote.
 */
export const configSchema = z.looseObject({
  panes: z.record(z.string(), paneConfig).default({}),
  serial: z.looseObject({ extraPorts: z.array(extraPort).default([]) }).default({ extraPorts: [] }),
  sessionLog: sessionLogConfig.prefault({}),
});
export type Config = z.infer<typeof configSchema>;
export type ConfigFile = JsonFile<Config>;

export const defaultConfig = (): Config => configSchema.parse({});

/** Reads `config.json`; no file means defaults, a broken one throws SettingsError and is kept. */
export const loadConfig = (path: string): Promise<ConfigFile> => JsonFile.load(path, configSchema, defaultConfig());
