import type { Server, ServerContext, ServerOptions } from "@modelcontextprotocol/server";
import { invalid } from "../core/errors.ts";
import type { Gate } from "../gate/gate.ts";
import type { Caller } from "../handlers/types.ts";
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

/** From the table and the gate to the SDK's low-level `Server`, one for each session or modern request. */
export class Engine {
  readonly tools: ListedTool[];
  readonly #gate: Gate;
  readonly #version: string;
  readonly #extend: Extend | undefined;
  readonly #more: Partial<ServerOptions>;

  constructor(gate: Gate, options: { version: string; extend?: Extend; serverOptions?: Partial<ServerOptions> }) {
    this.#gate = gate;
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

  /** The built-in tools are one page, so there is no cursor that would be right. */
  list(cursor: string | undefined) {
    if (cursor !== undefined) {
      throw invalid("Unknown cursor. Call tools/list without one: the first page holds all tools.");
    }
    return { tools: this.tools };
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
      const answer = await this.#gate.call(params.name, params.arguments, {
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
