import assert from "node:assert/strict";
import fc from "fast-check";
import { ctlName, ctlNames } from "../../src/core/ctl_names.ts";
import { controlInputSchema, valueProblem, valueSchema } from "../../src/core/controls.ts";
import { control } from "../rigs/page_client.ts";

Deno.test("a control's tool is named ctl_ and its path, cleaned, in lower case, up to 64 characters [C079]", () => {
  assert.equal(ctlName("serial.conn.portSelect"), "ctl_serial_conn_portselect");
  assert.equal(ctlName("serial.extra-1/波特 率"), "ctl_serial_extra_1_____");
  assert.equal(ctlName(`serial.${"x".repeat(200)}`).length, 64);
});

Deno.test("names are unique by a number and never longer than 64 [C080]", () => {
  const long = "a".repeat(200);
  const names = ctlNames(["a.b", "a_b", "A.B", `${long}1`, `${long}2`, "a.b.2"]);
  assert.equal(new Set(names.values()).size, 6);
  assert.deepEqual([...names.values()].map((n) => n.length <= 64 && /^ctl_[a-z0-9_]+$/.test(n)), Array(6).fill(true));
  fc.assert(fc.property(
    fc.uniqueArray(fc.stringMatching(/^[aAbB._ 中-]{1,6}$/), { maxLength: 60 }),
    (paths) => {
      const names = ctlNames(paths);
      assert.equal(names.size, paths.length);
      assert.equal(new Set(names.values()).size, paths.length);
      for (const name of names.values()) assert.ok(name.length <= 64);
      // The order in which controls registered themselves is no matter.
      assert.deepEqual(new Map([...names].sort()), new Map([...ctlNames(paths.toReversed())].sort()));
    },
  ));
});

Deno.test("a control takes what its kind is: switch boolean, number number, select its options, else a string", () => {
  assert.deepEqual(valueSchema(control("a.b.c", { kind: "toggle" })), { type: "boolean" });
  assert.deepEqual(valueSchema(control("a.b.c", { kind: "number", min: 110, max: 4_000_000 })), {
    type: "number",
    minimum: 110,
    maximum: 4_000_000,
  });
  const select = control("a.b.c", { kind: "select", options: [{ value: "crlf", label: "CR LF" }] });
  assert.deepEqual(valueSchema(select), { type: "string", enum: ["crlf"], description: "crlf = CR LF" });
  assert.deepEqual(valueSchema(control("a.b.c", { kind: "text" })), { type: "string" });
  assert.deepEqual(controlInputSchema(control("a.b.c")).required, []);
  assert.equal(valueProblem(select, "crlf"), undefined);
  assert.match(valueProblem(select, "CR LF") ?? "", /one of: crlf/);
  assert.match(valueProblem(control("a.b.c", { kind: "number", min: 110 }), 5) ?? "", /at least 110/);
  assert.match(valueProblem(control("a.b.c", { kind: "toggle" }), "true") ?? "", /true or false/);
});
