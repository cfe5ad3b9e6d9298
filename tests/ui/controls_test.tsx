import assert from "node:assert/strict";
import { signal } from "@preact/signals";
import { Button, Switch } from "../../ui/controls/button.tsx";
import { click, set } from "../../ui/controls/commands.ts";
import { Checkbox, Combo, NumberField, Select, TextField } from "../../ui/controls/field.tsx";
import { all, describe, find, panePath, valueOf } from "../../ui/controls/registry.ts";
import { onPage } from "./dom.ts";

Deno.test("controls are known while they are on the page, in its order, with value, options and reason", async () => {
  await onPage(
    <>
      <Select
        path="serial.conn.portSelect"
        label="Port"
        value="b"
        options={[{ value: "a", label: "A" }, { value: "b", label: "B" }]}
        onChange={() => {}}
      />
      <Button path="serial.conn.start" label="Start" disabledReason="Choose a port first" onClick={() => {}} />
      <Switch path="mcp.agents.readOnly" label="Read-only" on onChange={() => {}} />
    </>,
    () => {
      assert.deepEqual(all().map(describe), [
        {
          path: "serial.conn.portSelect",
          kind: "select",
          panel: "serial",
          group: "conn",
          label: "Port",
          enabled: true,
          disabledReason: null,
          value: "b",
          options: [{ value: "a", label: "A" }, { value: "b", label: "B" }],
        },
        {
          path: "serial.conn.start",
          kind: "button",
          panel: "serial",
          group: "conn",
          label: "Start",
          enabled: false,
          disabledReason: "Choose a port first",
        },
        {
          path: "mcp.agents.readOnly",
          kind: "toggle",
          panel: "mcp",
          group: "agents",
          label: "Read-only",
          enabled: true,
          disabledReason: null,
          value: true,
        },
      ]);
    },
  );
  assert.deepEqual(all(), []);
});

Deno.test("a further pane carries its name in the group", () => {
  assert.equal(panePath("main", "conn", "start"), "serial.conn.start");
  assert.equal(panePath("extra-1", "conn", "start"), "serial.extra-1-conn.start");
});

Deno.test("every set fires the native events, and `to` is what is true afterwards [C330] [C337]", async () => {
  const value = signal("a");
  const speed = signal(9600);
  const on = signal(false);
  const name = signal("");
  function App() {
    return (
      <>
        <Select
          path="serial.t.select"
          label="S"
          value={value.value}
          options={[{ value: "a", label: "Alpha" }, { value: "b", label: "Beta" }]}
          onChange={(v) => value.value = v}
        />
        <Combo
          path="serial.t.baud"
          label="B"
          listLabel="L"
          value={speed.value}
          choices={[9600]}
          min={110}
          max={4_000_000}
          onCommit={(v) => speed.value = v}
        />
        <Checkbox path="serial.t.check" label="C" checked={on.value} onChange={(v) => on.value = v} />
        <TextField path="serial.t.text" label="T" value={name.value} onInput={(v) => name.value = v} />
      </>
    );
  }
  await onPage(<App />, async ({ root, settle }) => {
    const events: string[] = [];
    for (const type of ["input", "change", "click"]) {
      root.addEventListener(type, (event) => events.push(`${type}:${(event.target as HTMLElement).dataset.control}`));
    }
    const { results, effects } = await set([
      { path: "serial.t.select", value: "b" },
      { path: "serial.t.baud", value: 74_880 },
      { path: "serial.t.check", value: true },
      { path: "serial.t.text", value: "<b>x" },
    ]);
    await settle();
    assert.deepEqual(results.map((r) => [r.ok, r.from, r.to]), [[true, "a", "b"], [true, 9600, 74_880], [
      true,
      false,
      true,
    ], [true, "", "<b>x"]]);
    assert.deepEqual(effects.map((e) => e.path), [
      "serial.t.select",
      "serial.t.baud",
      "serial.t.check",
      "serial.t.text",
    ]);
    for (
      const wanted of ["change:serial.t.select", "change:serial.t.baud", "click:serial.t.check", "input:serial.t.text"]
    ) {
      assert.ok(events.includes(wanted), `${wanted} in ${events}`);
    }
    assert.equal(value.value, "b");
    assert.equal(speed.value, 74_880);
  });
});

Deno.test("a select takes a value or a label that is clear, and refuses nonsense with its options [C331]", async () => {
  const value = signal("a");
  const App = () => (
    <Select
      path="serial.t.select"
      label="S"
      value={value.value}
      options={[{ value: "a", label: "Alpha" }, { value: "b", label: "Beta" }]}
      onChange={(v) => value.value = v}
    />
  );
  await onPage(<App />, async () => {
    assert.equal((await set([{ path: "serial.t.select", value: "Beta" }])).results[0]?.to, "b");
    const bad = (await set([{ path: "serial.t.select", value: "zzz" }])).results[0];
    assert.ok(bad && !bad.ok && bad.badValue);
    assert.deepEqual(bad.options, ["a", "b"]);
    assert.equal(value.value, "b");
  });
});

Deno.test("a batch gives one result for each: good, unknown, disabled, person only [C333]", async () => {
  await onPage(
    <>
      <TextField path="serial.t.text" label="T" value="" />
      <TextField path="serial.t.off" label="O" value="" disabledReason="The port is not open" />
      <Button path="mcp.t.reset" label="R" personOnly onClick={() => assert.fail("pressed for an agent")} />
    </>,
    async () => {
      const { results, effects } = await set([
        { path: "serial.t.text", value: "x" },
        { path: "serial.t.none", value: "x" },
        { path: "serial.t.off", value: "x" },
        { path: "mcp.t.reset", value: true },
      ]);
      assert.deepEqual(results.map((r) => [r.ok, r.notFound ?? false, r.disabled ?? false]), [
        [true, false, false],
        [false, true, false],
        [false, false, true],
        [false, false, true],
      ]);
      assert.match(results[2]?.error ?? "", /not open/);
      assert.deepEqual(effects.map((e) => e.path), ["serial.t.text"]);
    },
  );
});

Deno.test("two clicks are two clicks; a click on a field is refused [C336]", async () => {
  let clicks = 0;
  await onPage(
    <>
      <Button path="serial.t.go" label="Go" onClick={() => clicks++} />
      <TextField path="serial.t.text" label="T" value="" />
    </>,
    async () => {
      await click("serial.t.go");
      await click("serial.t.go");
      assert.equal(clicks, 2);
      assert.ok((await click("serial.t.text")).results[0]?.badValue);
      assert.ok((await click("serial.t.nothing")).results[0]?.notFound);
    },
  );
});

Deno.test("what a control starts is waited for; when it fails, the answer says so and the element shows the truth", async () => {
  const value = signal("a");
  await onPage(
    <Select
      path="serial.t.select"
      label="S"
      value={value.value}
      options={[{ value: "a", label: "A" }, { value: "b", label: "B" }]}
      onChange={async () => {
        await new Promise((resolve) => setTimeout(resolve, 60));
        throw new Error("the port is in use");
      }}
    />,
    async ({ settle }) => {
      const result = (await set([{ path: "serial.t.select", value: "b" }])).results[0];
      assert.ok(result && !result.ok);
      assert.match(result.error ?? "", /in use/);
      await settle();
      const entry = find("serial.t.select");
      assert.equal(entry && valueOf(entry), "a");
    },
  );
});

Deno.test("a number out of range is refused and changes nothing", async () => {
  let committed = 0;
  await onPage(
    <NumberField path="serial.t.ms" label="Ms" value={5} min={0} max={10} onCommit={() => committed++} />,
    async () => {
      assert.ok((await set([{ path: "serial.t.ms", value: 11 }])).results[0]?.badValue);
      assert.ok((await set([{ path: "serial.t.ms", value: "x" }])).results[0]?.badValue);
      assert.equal(committed, 0);
      assert.ok((await set([{ path: "serial.t.ms", value: 7 }])).results[0]?.ok);
      assert.equal(committed, 1);
    },
  );
});

Deno.test("what a person typed is what is read, though not saved [C329]", async () => {
  await onPage(
    <NumberField path="serial.t.ms" label="Ms" value={5} min={0} max={10} onCommit={() => {}} />,
    ({ query }) => {
      const input = query<HTMLInputElement>("input");
      input.value = "8";
      const entry = find("serial.t.ms");
      assert.equal(entry && valueOf(entry), 8);
    },
  );
});

Deno.test("a disabled button can be reached, says why, and does nothing", async () => {
  let clicks = 0;
  await onPage(
    <Button path="serial.t.go" label="Go" disabledReason="The port is not open" onClick={() => clicks++} />,
    ({ query }) => {
      const button = query<HTMLButtonElement>("button");
      button.click();
      assert.equal(clicks, 0);
      assert.equal(button.disabled, false);
      assert.equal(button.getAttribute("aria-disabled"), "true");
      assert.match(button.dataset.tip ?? "", /not open/);
    },
  );
});
