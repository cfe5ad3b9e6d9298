/** A real server with a virtual pair, and a raw client on it: what a test says here went over the wire. */
import assert from "node:assert/strict";
import { isObject } from "../../src/mcp/protocol.ts";
import { Living } from "../cli/run.ts";
import { connect, type Json, type RawMcp } from "../rigs/mcp_client.ts";
import { type ServerOptions, startServer } from "../rigs/server.ts";
import { until } from "../rigs/bench.ts";

export interface Wire extends AsyncDisposable {
  client: RawMcp;
  /** The ends of a cable. */
  a: string;
  b: string;
  /** A call that must succeed: its structured content and its text. */
  ok(tool: string, args?: Json): Promise<{ output: Json; text: string }>;
  /** A call that must be refused with -32602; gives its message. */
  refused(tool: string, args?: Json): Promise<string>;
  /** A call that must end with isError; gives its text, which begins with the code, and `structuredContent.error`. */
  fails(tool: string, args?: Json): Promise<{ text: string; error: Json }>;
  /** Opens pane main on one end and extra-1 on the other. */
  openBoth(): Promise<void>;
  /** Sends from main and waits until extra-1 has it: `lines` more lines there. */
  send(data: string, lines: number): Promise<void>;
}

export const startWire = async (options: ServerOptions = {}): Promise<Wire> => {
  const pair = new Living(["pair"]);
  const [line = ""] = await pair.lines(1);
  const [a = "", b = ""] = line.split(" ");
  const more = ["--port-path", `near end=${a}`, "--port-path", `far end=${b}`];
  const server = await startServer({ ...options, args: [...more, ...options.args ?? []] });
  const client = await connect(server.origin, server.token);

  const result = async (tool: string, args: Json): Promise<Json> => {
    const { json, text } = await client.call(tool, args);
    assert.ok(isObject(json["result"]), text);
    return json["result"];
  };
  const ok = async (tool: string, args: Json = {}) => {
    const answer = await result(tool, args);
    assert.notEqual(answer["isError"], true, `${tool}: ${textOf(answer)}`);
    return { output: objectIn(answer, "structuredContent"), text: textOf(answer) };
  };
  const received = async () =>
    Number(
      arrayIn((await ok("log_channels")).output, "channels").find((c) => c["channel"] === "serial:extra-1:rx")
        ?.["seqTo"] ?? 0,
    );
  return {
    client,
    a,
    b,
    ok,
    refused: async (tool, args = {}) => {
      const { json, text } = await client.call(tool, args);
      const error = json["error"];
      assert.ok(isObject(error) && error["code"] === -32602, `${tool} ${JSON.stringify(args)}: ${text}`.slice(0, 500));
      return String(error["message"]);
    },
    fails: async (tool, args = {}) => {
      const answer = await result(tool, args);
      assert.equal(answer["isError"], true, textOf(answer));
      const error = objectIn(objectIn(answer, "structuredContent"), "error");
      assert.ok(textOf(answer).startsWith(String(error["code"])));
      return { text: textOf(answer), error };
    },
    openBoth: async () => {
      await ok("serial_open", { port: a });
      await ok("serial_open", { port: b, pane: "extra-1" });
    },
    send: async (data, lines) => {
      const before = await received();
      await ok("serial_send", { data, mode: "text", lineEnding: "none" });
      await until(async () => await received() >= before + lines, "all lines at the far end");
    },
    [Symbol.asyncDispose]: async () => {
      await client.delete();
      await server.stop();
      await pair.stop();
    },
  };
};

export const objectIn = (value: Json, key: string): Json => {
  const found = value[key];
  assert.ok(isObject(found), `${key} is no object in ${JSON.stringify(value).slice(0, 300)}`);
  return found;
};

export const arrayIn = (value: Json, key: string): Json[] => {
  const found = value[key];
  assert.ok(
    Array.isArray(found) && found.every(isObject),
    `${key} is no list in ${JSON.stringify(value).slice(0, 300)}`,
  );
  return found;
};

/** All that `content` says. */
export const textOf = (result: Json): string => arrayIn(result, "content").map((c) => String(c["text"])).join("\n");
