import type { Server, ServerContext, ServerOptions } from "@modelcontextprotocol/server";
import { invalid } from "../core/errors.ts";
import type { Gate } from "../gate/gate.ts";
import type { ControlTools } from "../handlers/page_bridge.ts";
import type { Caller } from "../handlers/types.ts";
import { LIMITS } from "../../tools/mod.ts";
import { complete } from "./completions.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import { LEGACY_VERSIONS } from "./protocol.ts";
import { channelOf, listResources, RESOURCE_TEMPLATES, type Sources, uriOf } from "./resources.ts";
import { type Profile, slimTools } from "./slim.ts";
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
  sources: Sources;
  /** Tools of the page's controls, beside the built-in ones. */
  controlTools?: ControlTools;
  /** What clients see that name no profile. */
  profile?: Profile;
  extend?: Extend;
  serverOptions?: Partial<ServerOptions>;
}

/** Of one session, or of one request of the modern era. */
export interface Connection {
  readonly session: string;
  readonly profile: Profile | undefined;
  /** Addresses of the resources that the client wants to hear of. */
  readonly subscriptions: Set<string>;
}

/** From the table and the gate to the SDK's low-level `Server`, one for each session or modern request. */
export class Engine {
  readonly sources: Sources;
  readonly #options: EngineOptions;
  readonly #gate: Gate;
  readonly #tools: ListedTool[];
  readonly #slim: ReturnType<typeof slimTools>;

  constructor(gate: Gate, options: EngineOptions) {
    this.sources = options.sources;
    this.#options = options;
    this.#gate = gate;
    this.#tools = listTools(gate.rows());
    this.#slim = slimTools(this.#tools);
  }

  createServer(sdk: Sdk, connection: Connection): Server {
    const { version, serverOptions = {}, extend } = this.#options;
    const server = new sdk.Server({ name: "fieldbench", title: "Fieldbench", version }, {
      supportedProtocolVersions: [...LEGACY_VERSIONS],
      instructions: INSTRUCTIONS,
      ...serverOptions,
      capabilities: { ...CAPABILITIES, ...serverOptions.capabilities },
    });
    const caller: Caller = { kind: "agent", session: connection.session, src: "ai" };
    const profile = connection.profile ?? this.#options.profile ?? "all";
    server.setRequestHandler("tools/list", ({ params }) => this.list(params?.cursor, profile));
    server.setRequestHandler("tools/call", ({ params }, context) => this.#call(caller, params, context));
    this.#addResources(server, caller, connection.subscriptions);
    server.setRequestHandler("prompts/list", () => listPrompts());
    server.setRequestHandler("prompts/get", ({ params }) => getPrompt(params.name, params.arguments));
    server.setRequestHandler("completion/complete", ({ params }) => complete(this.sources, params.argument));
    extend?.(server);
    return server;
  }

  /** All built-in tools are the first page, since many clients read no further; those of controls follow by 50. */
  list(cursor: string | undefined, profile: Profile) {
    if (profile === "slim") return cursor === undefined ? { tools: this.#slim } : badCursor();
    const controls = this.#options.controlTools?.list() ?? [];
    if (cursor === undefined) return { tools: this.#tools, ...(controls.length > 0 && { nextCursor: "ctl:0" }) };
    const at = Number(/^ctl:(\d{1,4})$/.exec(cursor)?.[1] ?? NaN);
    if (Number.isNaN(at) || at % LIMITS.toolsPage !== 0 || at >= controls.length) return badCursor();
    const end = at + LIMITS.toolsPage;
    return { tools: controls.slice(at, end), ...(end < controls.length && { nextCursor: `ctl:${end}` }) };
  }

  #addResources(server: Server, caller: Caller, subscriptions: Set<string>): void {
    server.setRequestHandler("resources/list", () => listResources(this.sources));
    server.setRequestHandler("resources/templates/list", () => RESOURCE_TEMPLATES);
    server.setRequestHandler("resources/read", async ({ params }, context) => {
      const { uri } = params;
      const answer = await this.#gate.call("log_tail", {
        channel: channelOf(uri),
        format: "text",
        lines: RESOURCE_LINES,
      }, {
        caller,
        signal: context.mcpReq.signal,
        progress: () => {},
      }, { counted: false });
      return { contents: [{ uri, mimeType: "text/plain", text: answer.text }] };
    });
    server.setRequestHandler("resources/subscribe", ({ params }) => {
      const channel = channelOf(params.uri);
      if (this.sources.lastSeq(channel) === undefined) throw invalid(`Unknown resource: ${params.uri.slice(0, 128)}`);
      if (subscriptions.size < MAX_SUBSCRIPTIONS) subscriptions.add(uriOf(channel));
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params }) => {
      subscriptions.delete(uriOf(channelOf(params.uri)));
      return {};
    });
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
      const control = this.#options.controlTools?.resolve(params.name, params.arguments);
      const { tool, args } = control ?? { tool: params.name, args: params.arguments };
      const answer = await this.#gate.call(tool, args, {
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

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: {},
  completions: {},
};
const RESOURCE_LINES = 200;
/** More than the hub may have channels. */
const MAX_SUBSCRIPTIONS = 128;
const badCursor = (): never => {
  throw invalid("Unknown cursor. Call tools/list without one: the first page holds all built-in tools.");
};
