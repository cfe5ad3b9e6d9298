import assert from "node:assert/strict";
import { AgentsPanel, FloatingAsks } from "../../ui/agents/agents_panel.tsx";
import { all, describe } from "../../ui/controls/registry.ts";
import { click } from "../../ui/controls/commands.ts";
import { Connection, type SocketLike } from "../../ui/lib/connection.ts";
import { setConnection } from "../../ui/lib/server.ts";
import { layout, readLayout } from "../../ui/lib/settings.ts";
import { asks, calls, resetStore } from "../../ui/lib/store.ts";
import { onPage } from "./dom.ts";

const ask = {
  askId: 7,
  who: "agent <b>x</b>",
  tool: "serial_workflow_run",
  argsShort: 'rule: "retry"',
  consequence: "It will send by itself.",
  askedAt: 0,
  endsAt: 60_000,
};

/** A server that says hello and keeps what it is told. */
function online(): { connection: Connection; sent: Record<string, unknown>[] } {
  const sent: Record<string, unknown>[] = [];
  let heard: ((event: { data: unknown }) => void) | undefined;
  const socket: SocketLike = {
    binaryType: "",
    readyState: 1,
    bufferedAmount: 0,
    send: (data) => {
      if (typeof data === "string") sent.push(JSON.parse(data));
    },
    close: () => {},
    addEventListener: (type: string, listener: (event: { data: unknown }) => void) => {
      if (type === "message") heard = listener;
    },
  };
  const connection = new Connection({ open: () => socket });
  connection.connect();
  heard?.({ data: JSON.stringify({ type: "hello", version: "0", pageId: 1, epochMs: 0, now: 0, state: {} }) });
  return { connection, sent };
}

Deno.test("a dangerous call waits for the person's yes, which no agent can give", async () => {
  const { connection, sent } = online();
  setConnection(connection);
  asks.value = [ask];
  try {
    await onPage(<AgentsPanel />, async ({ query }) => {
      const card = query(".ask");
      assert.match(card.textContent ?? "", /agent <b>x<\/b> wants to call serial_workflow_run/);
      assert.match(card.textContent ?? "", /It will send by itself/);
      assert.equal(card.querySelector("b"), null, "a name is text");
      const allow = all().map(describe).find((c) => c.path === "dialog.ask.allow-7");
      assert.ok(allow?.personOnly);
      assert.ok((await click("dialog.ask.allow-7")).results[0]?.disabled);
      assert.ok(!sent.some((m) => m.action === "server.answerAsk"));
      query<HTMLButtonElement>(".ask button.primary").click();
      assert.deepEqual(sent.find((m) => m.action === "server.answerAsk")?.args, { askId: 7, yes: true });
    });
  } finally {
    connection.close();
    setConnection(undefined);
    resetStore();
  }
});

Deno.test("with another tab open, or the column folded away, the question floats over the page", async () => {
  asks.value = [ask];
  try {
    layout.value = { ...layout.value, side: true, tab: "logs" };
    await onPage(<FloatingAsks />, ({ root }) => assert.equal(root.querySelectorAll(".ask").length, 1));
    layout.value = { ...layout.value, side: false, tab: "agents" };
    await onPage(<FloatingAsks />, ({ root }) => assert.equal(root.querySelectorAll(".ask").length, 1));
    layout.value = { ...layout.value, side: true, tab: "agents" };
    await onPage(<FloatingAsks />, ({ root }) => assert.equal(root.querySelectorAll(".ask").length, 0));
  } finally {
    resetStore();
  }
});

Deno.test("the live list shows who, what, how long and what changed, newest first, failures as such", async () => {
  const call = (id: number, more: Partial<(typeof calls.value)[number]>) => ({
    id,
    who: "raw 1234",
    kind: "agent" as const,
    tool: "serial_set_baud",
    argsShort: "baud: 9600",
    startedAt: 0,
    ms: 14,
    ok: true,
    error: null,
    effects: [],
    ...more,
  });
  calls.value = [
    call(1, { effects: ["baud 115200 → 9600"] }),
    call(2, { kind: "page", who: "page", tool: "serial_open" }),
    call(3, { ok: false, error: "No pane extra-9." }),
    call(4, { ms: null, ok: null }),
  ];
  try {
    await onPage(<AgentsPanel />, ({ root, query }) => {
      const rows = [...root.querySelectorAll(".call")];
      assert.equal(rows.length, 3, "the person's own calls are hidden at first");
      assert.ok(rows[0]?.classList.contains("run"));
      assert.ok(rows[1]?.classList.contains("bad"));
      assert.match(rows[1]?.textContent ?? "", /No pane extra-9/);
      assert.match(rows[2]?.textContent ?? "", /raw 1234: baud: 9600.*baud 115200 → 9600/);
      assert.match(rows[2]?.textContent ?? "", /14 ms/);
      assert.ok(query(".calls"));
    });
  } finally {
    resetStore();
  }
});

Deno.test("a stored layout with nonsense in it keeps what is right", () => {
  const base = { rail: true, side: true, tab: "agents", weights: {}, both: [] } as const;
  assert.deepEqual(readLayout("x", base), base);
  assert.deepEqual(
    readLayout({ rail: false, side: 3, tab: "zzz", weights: { main: 2, x: -1, y: "a" }, both: ["main", 5] }, base),
    { rail: false, side: true, tab: "agents", weights: { main: 2 }, both: ["main"] },
  );
});
