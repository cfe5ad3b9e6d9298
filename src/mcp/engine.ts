import type { Server, ServerContext, ServerOptions } from "@modelcontextprotocol/server";
import { invalid } from "../core/errors.ts";
import type { Gate } from "../gate/gate.ts";
import type { ControlTools } from "../handlers/page_bridge.ts";
import type { Caller } from "../handlers/types.ts";
import { LIMITS } from "../../tools/mod.ts";
import { LEGACY_VERSIONS } from "./protocol.ts";
import { toFailure, toResult } from "./results.ts";
import { type ListedTool, listTools } from "./tool_list.ts";

export type Sdk = typeof import("@modelcontextprotocol/server");

let loading: Promise<Sdk> | undefined;
/** The SDK, loaded when it is first needed: it costs a quarter of a second, which a start has not to pay. */
export const loadSdk = (): Promise<Sdk> => loading ??= import("@modelcontextprotocol/server");

export const INSTRUCTIONS =
  "Serial ports, BLE, ADB and logs of this bench, shared live with the people at it. Start with mcp_status or " +
  'serial_get_state. Typical: serial_open, serial_send, then serial_get_output with format:"text" (cheapest). Failures ' +
  "are results with isError; branch on structuredContent.error.reason. Dangerous tools need confirm:true: ask first.";

/** Changes a server of a session: only for tests, which add the fixtures of the conformance suite. */
export type Extend = (server: Server) => void;

export interface EngineOptions {
  version: string;
  /** The `ctl_*` tools; absent: there are none. */
  controlTools?: ControlTools;
  extend?: Extend;
  serverOptions?: Partial<ServerOptions>;
}

/** `nextCursor` of a page of control tools: how many of them were given before. */
const CURSOR = /^ctl:(\d{1,6})$/;

/** From the table and the gate to the SDK's low-level `Server`, one for each session or modern request. */
export class Engine {
  readonly tools: ListedTool[];
  readonly #gate: Gate;
  readonly #version: string;
  readonly #controlTools: ControlTools | undefined;
  readonly #extend: Extend | undefined;
  readonly #more: Partial<ServerOptions>;

  constructor(gate: Gate, options: EngineOptions) {
    this.#gate = gate;
    this.#controlTools = options.controlTools;
    this.#version = options.version;
    this.#extend = options.extend;
    this.#more = options.serverOptions ?? {};
    this.tools = listTools(gate.rows());
  }

  createServer(sdk: Sdk, session: string): Server {
    const caller: Caller = { kind: "agent", session, src: "ai" };
    const server = new sdk.Server({ name: "fieldbench", title: "Fieldbench", version: this.#version }, {
      supportedProtocolVersions: [...LEGACY_VERSIONS],
      instructions: INSTRUCTIONS,
      ...this.#more,
      capabilities: { tools: { listChanged: true }, ...this.#more.capabilities },
    });
    server.setRequestHandler("tools/list", (request) => this.list(request.params?.cursor));
    server.setRequestHandler("tools/call", (request, context) => this.#call(caller, request.params, context));
    this.#extend?.(server);
    return server;
  }

  /** The first page holds all built-in tools; the control tools follow, LIMITS.toolsPage a page. */
  list(cursor: string | undefined): { tools: ListedTool[]; nextCursor?: string } {
    const controls = this.#controlTools?.list() ?? [];
    if (cursor === undefined) return { tools: this.tools, ...(controls.length && { nextCursor: "ctl:0" }) };
    const from = Number(CURSOR.exec(cursor)?.[1] ?? NaN);
    // The set may have shrunk since: the end is then the end, not an error.
    if (Number.isNaN(from)) {
      throw invalid("Unknown cursor. Call tools/list without one: the first page holds all built-in tools.");
    }
    const next = from + LIMITS.toolsPage;
    return {
      tools: controls.slice(from, next),
      ...(next < controls.length && { nextCursor: `ctl:${next}` }),
    };
  }

  async #call(
    caller: Caller,
    params: {
      name: string;
      arguments?: Record<string, unknown> | undefined;
      _meta?: Record<string, unknown> | undefined;
    },
    context: ServerContext,
  ) {
    const progressToken = params._meta?.["progressToken"];
    try {
      const { name, arguments: args } = params;
      // A control's own tool is another name for the call that it makes.
      const real = this.#controlTools?.resolve(name, args) ?? { tool: name, args };
      const answer = await this.#gate.call(real.tool, real.args, {
        caller,
        signal: context.mcpReq.signal,
        progress: (done, total, message) => {
          if (typeof progressToken !== "string" && typeof progressToken !== "number") return;
          void context.mcpReq.notify({
            method: "notifications/progress",
            params: {
              progressToken,
              progress: done,
              ...(total !== undefined && { total }),
              ...(message !== undefined && { message }),
            },
          }).catch(() => {});
        },
      });
      return toResult(answer);
    } catch (error) {
      return toFailure(error);
    }
  }
}
