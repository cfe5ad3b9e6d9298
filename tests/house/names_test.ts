import assert from "node:assert/strict";
import { TOOLS } from "../../tools/mod.ts";

/** The names that clients rely on, written down by hand: one that goes missing or changes breaks them. */
const NAMES = [
  "serial_list_ports",
  "serial_get_state",
  "serial_select_port",
  "serial_set_baud",
  "serial_set_frame",
  "serial_set_lines",
  "serial_set_display",
  "serial_open",
  "serial_close",
  "serial_send",
  "serial_clear",
  "serial_get_history",
  "serial_get_output",
  "ui_list",
  "ui_describe",
  "ui_get",
  "ui_set",
  "ui_click",
  "ui_get_state",
  "log_channels",
  "log_tail",
  "log_search",
  "log_stats",
  "log_clear",
  "app_info",
  "mcp_status",
  "mcp_limits",
  "mcp_danger",
  "mcp_calls",
  "mcp_stats",
  "mcp_config_get",
  "mcp_config_set",
];

Deno.test("the set of tool names is the contract's", () => {
  assert.deepEqual(TOOLS.map((t) => t.name).toSorted(), NAMES.toSorted());
});

Deno.test("every name, description and argument is fit for clients", () => {
  for (const t of TOOLS) {
    assert.match(t.name, /^[a-z][a-z0-9_]{0,63}$/);
    assert.ok(t.description.length > 20 && t.description.length < 300, `${t.name}: description`);
    for (const argument of Object.keys(t.input.shape)) assert.match(argument, /^[a-z][a-zA-Z0-9]*$/, t.name);
  }
});
