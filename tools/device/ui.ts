import { z } from "zod";
import { tool } from "../define.ts";
import { LIMITS } from "../limits.ts";

const path = z.string().min(1).max(512);
const value = z.union([z.string().max(LIMITS.maxUiSetValueChars), z.number(), z.boolean()]);
const shown = z.union([z.string(), z.number(), z.boolean()]);
const kind = z.enum(["button", "toggle", "select", "text", "number", "checkbox", "range"]);
const panel = z.enum(["serial", "wsl", "adb", "ble", "global", "mcp", "dialog"]);

const controlFields = {
  path: z.string(),
  kind,
  panel,
  group: z.string(),
  label: z.string(),
  enabled: z.boolean(),
  disabledReason: z.string().nullable(),
  value: shown.optional(),
  options: z.array(z.strictObject({ value: z.string(), label: z.string() })).optional(),
};

const mapRequest = z.strictObject({ settled: z.boolean(), note: z.string().optional() });
const effects = z.array(
  z.strictObject({ path: z.string(), from: shown.nullable(), to: shown.nullable() }),
);
/** One entry of `results`: what became of one control. */
const result = {
  path: z.string(),
  ok: z.boolean(),
  notFound: z.literal(true).optional(),
  error: z.string().optional(),
  mapRequest: mapRequest.optional(),
};

const section = z.enum(["serial", "wsl", "ble", "bleDevices", "wslDevices", "theme", "window", "monitors"]);

export const uiTools = [
  tool({
    name: "ui_list",
    surface: "device",
    group: "Page",
    access: "read",
    title: "Controls of the page",
    description:
      "Controls on the open page: path, kind, value, enabled or why not. Then ui_describe, ui_set or ui_click.",
    input: z.strictObject({
      panel: panel.optional(),
      kind: kind.optional(),
      query: z.string().optional().describe("Part of path or label"),
      cursor: z.string().optional().describe("nextCursor of the last page"),
      limit: z.int().min(1).optional().describe("Default 100, max 500"),
    }),
    output: z.strictObject({
      /** Controls that match, on all pages. */
      total: z.int(),
      controls: z.array(z.strictObject(controlFields)),
      nextCursor: z.string().optional(),
    }),
    clamp: { limit: "maxUiListPage" },
    limits: ["uiTimeoutMs", "maxUiInFlight", "maxUiListPage"],
  }),
  tool({
    name: "ui_describe",
    surface: "device",
    group: "Page",
    access: "read",
    title: "One control in full",
    description: "One control in full, with the input it takes. Then ui_set.",
    input: z.strictObject({ path: path.describe("e.g. serial.conn.portSelect") }),
    output: z.strictObject({
      ...controlFields,
      description: z.string(),
      inputSchema: z.record(z.string(), z.unknown()),
    }),
    limits: ["uiTimeoutMs"],
  }),
  tool({
    name: "ui_get",
    surface: "device",
    group: "Page",
    access: "read",
    title: "Value of a control",
    description: "A control's value as the page shows it now.",
    input: z.strictObject({ path }),
    output: z.strictObject({
      path: z.string(),
      /** null for a button. */
      value: shown.nullable(),
      enabled: z.boolean(),
      disabledReason: z.string().nullable(),
    }),
    limits: ["uiTimeoutMs"],
  }),
  tool({
    name: "ui_set",
    surface: "device",
    group: "Page",
    access: "write",
    title: "Set controls",
    description:
      "Set one control, or many with items, as a person would; returns the value after. On settled:false do not retry.",
    input: z.strictObject({
      path: path.optional(),
      value: value.optional().describe("Select: the option's value"),
      items: z.array(z.strictObject({ path, value })).min(1).max(LIMITS.maxUiSetItems).optional(),
    }),
    output: z.strictObject({
      results: z.array(
        z.strictObject({ ...result, from: shown.nullable().optional(), to: shown.nullable().optional() }),
      ),
      effects,
    }),
    rule: (input) => {
      const single = input["path"] !== undefined || input["value"] !== undefined;
      if (input["items"] !== undefined) return single ? "give path with value, or items, not both" : undefined;
      if (input["path"] === undefined) return "give path with value, or items";
      return input["value"] === undefined ? 'missing argument "value"' : undefined;
    },
    limits: ["maxUiSetItems", "maxUiSetValueChars", "uiTimeoutMs", "maxUiInFlight"],
    notes:
      "One target: its failure fails the call. items: a result for each. mapRequest.settled=false: look later with ui_get_state section wslDevices.",
  }),
  tool({
    name: "ui_click",
    surface: "device",
    group: "Page",
    access: "write",
    title: "Click a control",
    description: "Click a button or switch, as a person would. On settled:false do not retry; look with ui_get_state.",
    input: z.strictObject({ path }),
    output: z.strictObject({ results: z.array(z.strictObject(result)), effects }),
    limits: ["uiTimeoutMs", "maxUiInFlight"],
    notes: "Controls whose tool needs confirm are not in the registry.",
  }),
  tool({
    name: "ui_get_state",
    surface: "device",
    group: "Page",
    access: "read",
    title: "Saved settings",
    description:
      "Saved settings and selections, whole or one section; bleDevices and wslDevices are live tables found only here.",
    input: z.strictObject({
      section: section.optional().describe("Default: all but the tables"),
      limit: z.int().min(1).max(LIMITS.maxBleDevicePage).optional().describe("bleDevices page"),
      offset: z.int().min(0).optional(),
    }),
    output: z.strictObject({
      serial: z.looseObject({}).optional(),
      wsl: z.looseObject({}).optional(),
      ble: z.looseObject({}).optional(),
      theme: z.looseObject({}).optional(),
      window: z.looseObject({}).optional(),
      monitors: z.looseObject({}).optional(),
      bleDevices: z.looseObject({}).optional(),
      wslDevices: z.looseObject({}).optional(),
    }),
    rule: (input) =>
      (input["limit"] !== undefined || input["offset"] !== undefined) && input["section"] !== "bleDevices"
        ? "limit and offset only go with section bleDevices"
        : undefined,
    limits: ["maxBleDevicePage"],
    notes:
      "Answered from the server's state, so it works with no page. wslDevices on other systems than Windows: count 0 and mapUnavailableReason.",
  }),
] as const;
