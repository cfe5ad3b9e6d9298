/**
 * The whole program under Wine, from outside: a client on Linux talks to `serve`, whose pane has a COM port open. Run by
 * `rig.sh` with the file into which the server wrote its ready line.
 */
import assert from "node:assert/strict";
import { z } from "zod";

const Ready = z.object({ urlStreamable: z.string() });
const Answer = z.object({
  result: z.object({ content: z.tuple([z.object({ text: z.string() })]), isError: z.boolean().optional() }),
});

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Asks until the answer passes, for at most 15 s. */
async function until<T>(ask: () => Promise<T>, passes: (answer: T) => boolean): Promise<T> {
  for (const start = performance.now();;) {
    const answer = await ask();
    if (passes(answer)) return answer;
    if (performance.now() - start > 15_000) throw new Error(`still ${JSON.stringify(answer)}`);
    await pause(100);
  }
}

const ready = await until(() => Deno.readTextFile(Deno.args[0] ?? "").catch(() => ""), (text) => text.endsWith("\n"));
const { urlStreamable } = Ready.parse(JSON.parse(ready));
let session: string | null = null;

async function post(body: unknown): Promise<string> {
  const response = await fetch(urlStreamable, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session !== null && { "mcp-session-id": session }),
    },
    body: JSON.stringify(body),
  });
  session ??= response.headers.get("mcp-session-id");
  return await response.text();
}

async function call(name: string, input: Record<string, unknown> = {}): Promise<string> {
  const text = await post({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } });
  const { result } = Answer.parse(JSON.parse(text));
  const [{ text: answer }] = result.content;
  console.log(`${name} ${JSON.stringify(input)}\n  ${answer.replaceAll("\n", "\n  ")}`);
  assert(!result.isError, answer);
  return answer;
}

const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "rig", version: "1" } };
await post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
await post({ jsonrpc: "2.0", method: "notifications/initialized" });

assert.match(await call("serial_list_ports"), /COM5.*0403|USB Serial Port \(COM5\)/s);
assert.match(await call("serial_open", { port: "COM5", baud: 250_000 }), /open.*COM5 at 250000/);
await call("serial_send", { data: "hello from the other side" });
await until(() => call("serial_get_output"), (text) => /\[rx\] hello from the other side/.test(text));
await call("serial_send", { data: "!hangup 1500" });
await until(() => call("serial_get_state"), (text) => /lost/.test(text));
// Back under the same name, it is found again without being asked.
await until(() => call("serial_get_state"), (text) => /main: COM5 at 250000/.test(text));
await call("serial_send", { data: "and again" });
await until(() => call("serial_get_output"), (text) => /\[rx\] and again/.test(text));
await call("serial_close");
console.log("done");
