import type {
  JSONRPCRequest,
  Notification,
  Result,
  Server,
  ServerContext,
  ServerOptions,
} from "@modelcontextprotocol/server";
import { BenchError, invalid } from "../core/errors.ts";
import type { Alias, Gate } from "../gate/gate.ts";
import type { ControlTools } from "../handlers/page_bridge.ts";
import type { Caller } from "../handlers/types.ts";
import { LIMITS } from "../../tools/mod.ts";
import { complete } from "./completions.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import { objectParam, optionalText, progressTokenOf, textMap, textParam } from "./params.ts";
import { LEGACY_VERSIONS, RPC } from "./protocol.ts";
import { channelOf, listResources, RESOURCE_TEMPLATES, type Sources, unknownResource, uriOf } from "./resources.ts";
import { type Profile, slimTools } from "./slim.ts";
import { toFailure, toResult } from "./results.ts";
import { type ListedTool, listTools } from "./tool_list.ts";

export type Sdk = typeof import("@modelcontextprotocol/server");

let loading: Promise<Sdk> | undefined;
/** The SDK, loaded when it is first needed: it costs a quarter of a second, which a start has not to pay. */
export const loadSdk = (): Promise<Sdk> => loading ??= import("@modelcontextprotocol/server");

const INSTRUCTIONS =
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
  /** Told of a method that there is not: the modern era says so in the HTTP status, too. */
  unknownMethod?(): void;
}

type Params = JSONRPCRequest["params"];

/** What ties a call to who made it. */
export interface CallerLine {
  readonly signal: AbortSignal;
  notify(notification: Notification): void;
}
export type DirectCall = (params: Params, line: CallerLine) => Promise<Result>;

/** From the table and the gate to the SDK's low-level `Server`, one for each session or modern request. */
export class Engine {
  readonly sources: Sources;
  /** How the server names itself. */
  readonly info: { name: string; title: string; version: string };
  readonly #options: EngineOptions;
  readonly #gate: Gate;
  readonly #tools: ListedTool[];
  readonly #slim: ReturnType<typeof slimTools>;
  readonly #alias: Alias | undefined;

  constructor(gate: Gate, options: EngineOptions) {
    this.sources = options.sources;
    this.info = { name: "fieldbench", title: "Fieldbench", version: options.version };
    this.#options = options;
    this.#gate = gate;
    this.#tools = listTools(gate.rows());
    this.#slim = slimTools(this.#tools);
    const { controlTools } = options;
    this.#alias = controlTools && ((name, args) => controlTools.resolve(name, args));
  }

  createServer(sdk: Sdk, connection: Connection): Server {
    const { serverOptions = {}, extend } = this.#options;
    const server = new sdk.Server(this.info, {
      supportedProtocolVersions: [...LEGACY_VERSIONS],
      instructions: INSTRUCTIONS,
      ...serverOptions,
      capabilities: { ...CAPABILITIES, ...serverOptions.capabilities },
    });
    const caller: Caller = { kind: "agent", session: connection.session, src: "ai" };
    // Not by setRequestHandler: its schemas answer wrong parameters as internal errors, and cost more than the call.
    server.fallbackRequestHandler = (request, context) => this.#handle(request, context, connection, caller);
    extend?.(server);
    return server;
  }

  async #handle(
    { method, params }: JSONRPCRequest,
    context: ServerContext,
    connection: Connection,
    caller: Caller,
  ): Promise<Result> {
    switch (method) {
      case "tools/call":
        return await this.#call(caller, params, {
          signal: context.mcpReq.signal,
          notify: (notification) => void context.mcpReq.notify(notification).catch(() => {}),
        });
      case "tools/list": {
        const profile = connection.profile ?? this.#options.profile ?? "all";
        return this.list(optionalText(method, params, "cursor"), profile);
      }
      case "resources/list":
        return listResources(this.sources);
      case "resources/templates/list":
        return RESOURCE_TEMPLATES;
      case "resources/read":
        return await this.#readResource(textParam(method, params, "uri"), caller, context);
      case "resources/subscribe": {
        const channel = this.#knownChannel(textParam(method, params, "uri"));
        if (connection.subscriptions.size < MAX_SUBSCRIPTIONS) connection.subscriptions.add(uriOf(channel));
        return {};
      }
      case "resources/unsubscribe":
        connection.subscriptions.delete(uriOf(channelOf(textParam(method, params, "uri"))));
        return {};
      case "prompts/list":
        return listPrompts();
      case "prompts/get":
        return getPrompt(textParam(method, params, "name"), textMap(method, params, "arguments"));
      case "completion/complete": {
        const argument = objectParam(method, params, "argument");
        objectParam(method, params, "ref");
        return await complete(this.sources, {
          name: textParam(method, argument, "name"),
          value: textParam(method, argument, "value"),
        });
      }
      default:
        connection.unknownMethod?.();
        throw new BenchError(RPC.methodNotFound, `Method not found: ${method.slice(0, 64)}`);
    }
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

  #knownChannel(uri: string): string {
    const channel = channelOf(uri);
    if (this.sources.lastSeq(channel) === undefined) throw unknownResource(uri);
    return channel;
  }

  async #readResource(uri: string, caller: Caller, context: ServerContext) {
    const args = { channel: this.#knownChannel(uri), format: "text", lines: RESOURCE_LINES };
    const call = { caller, signal: context.mcpReq.signal, progress: () => {} };
    const answer = await this.#gate.call("log_tail", args, call, { counted: false });
    return { contents: [{ uri, mimeType: "text/plain", text: answer.text }] };
  }

  /**
   * `tools/call` of a session without the SDK in between, which costs half as much again as the call: the transport's
   * shortcut. Undefined where a test has put something else in its place.
   */
  directCall(session: string): DirectCall | undefined {
    if (this.#options.extend) return undefined;
    const caller: Caller = { kind: "agent", session, src: "ai" };
    return (params, context) => this.#call(caller, params, context);
  }

  async #call(caller: Caller, params: Params, context: CallerLine): Promise<Result> {
    const name = textParam("tools/call", params, "name");
    const progressToken = progressTokenOf(params);
    try {
      const call = {
        caller,
        signal: context.signal,
        progress: (done: number, total?: number, message?: string) => {
          if (progressToken === undefined) return;
          context.notify({
            method: "notifications/progress",
            params: {
              progressToken,
              progress: done,
              ...(total !== undefined && { total }),
              ...(message !== undefined && { message }),
            },
          });
        },
      };
      return toResult(await this.#gate.call(name, params?.["arguments"], call, { alias: this.#alias }));
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
