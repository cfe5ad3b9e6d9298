/**
 * What the official suite expects a server to have: tools, resources and prompts of these names that do what its
 * scenarios describe. Only the server of `server.ts` has them, never the product.
 */
import {
  acceptedContent,
  type CallToolResult,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  type GetPromptResult,
  inputRequired,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
  type ServerOptions,
} from "@modelcontextprotocol/server";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import { isObject } from "../../src/mcp/protocol.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

type Json = Record<string, unknown>;
type ToolAnswer = CallToolResult | InputRequiredResult;
interface Fixture {
  schema?: { type: "object"; [key: string]: unknown };
  description?: string;
  run(args: Json, context: ServerContext, progressToken: string | number | undefined): ToolAnswer | Promise<ToolAnswer>;
}

const text = (value: string): CallToolResult => ({ content: [{ type: "text", text: value }] });
const pause = (ms: number) => new Promise((r) => setTimeout(r, ms));
type Properties = Record<string, { type: "string" }>;
const object = (properties: Properties = {}, required: string[] = []) => ({
  type: "object" as const,
  properties,
  required,
});
const string = { type: "string" as const };
type FormSchema = ElicitRequestFormParams["requestedSchema"];

const state = createRequestStateCodec<Json>({ key: crypto.getRandomValues(new Uint8Array(32)) });
const responses = (context: ServerContext) => context.mcpReq.inputResponses ?? {};
const accepted = (context: ServerContext, key: string) => acceptedContent<Json>(responses(context), key);
const nameForm: FormSchema = { type: "object", properties: { name: string }, required: ["name"] };
const ask = (message: string, requestedSchema: FormSchema) => inputRequired.elicit({ message, requestedSchema });
const sample = (prompt: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens });

const askName: Fixture = {
  run: (_args, context) => {
    const given = accepted(context, "user_name");
    return typeof given?.["name"] === "string"
      ? text(`Hello, ${given["name"]}!`)
      : inputRequired({ inputRequests: { user_name: ask("What is your name?", nameForm) } });
  },
};

const SCHEMA_2020: Fixture["schema"] = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: { $anchor: "addressDef", type: "object", properties: { street: string, city: string } },
  },
  properties: {
    name: string,
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: string,
    email: string,
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const titled = (prefix: string, titles: string[]) => titles.map((title, i) => ({ const: `${prefix}${i + 1}`, title }));

/** Told when a fixture changes a list. */
export interface ListChanges {
  tools(): void;
  prompts(): void;
}

const fixtures = (changes: ListChanges): Readonly<Record<string, Fixture>> => ({
  test_simple_text: { run: () => text("This is a simple text response for testing.") },
  test_image_content: { run: () => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }] }) },
  test_audio_content: { run: () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] }) },
  test_embedded_resource: {
    run: () => ({
      content: [{
        type: "resource",
        resource: {
          uri: "test://embedded-resource",
          mimeType: "text/plain",
          text: "This is an embedded resource content.",
        },
      }],
    }),
  },
  test_multiple_content_types: {
    run: () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        { type: "image", data: PNG, mimeType: "image/png" },
        {
          type: "resource",
          resource: {
            uri: "test://mixed-content-resource",
            mimeType: "application/json",
            text: '{"test":"data","value":123}',
          },
        },
      ],
    }),
  },
  test_tool_with_logging: {
    run: async (_args, context) => {
      for (
        const [i, line] of ["Tool execution started", "Tool processing data", "Tool execution completed"].entries()
      ) {
        if (i) await pause(50);
        await context.mcpReq.log("info", line);
      }
      return text("done");
    },
  },
  test_error_handling: {
    run: () => ({ ...text("This tool intentionally returns an error for testing"), isError: true }),
  },
  test_tool_with_progress: {
    run: async (_args, context, progressToken) => {
      for (const progress of [0, 50, 100]) {
        if (progress) await pause(50);
        if (progressToken === undefined) continue;
        await context.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 100 },
        });
      }
      return text("done");
    },
  },
  test_sampling: {
    schema: object({ prompt: string }, ["prompt"]),
    run: async ({ prompt }, context) => {
      const answer = await context.mcpReq.requestSampling({
        messages: [{ role: "user", content: { type: "text", text: String(prompt) } }],
        maxTokens: 100,
      });
      return text(`LLM response: ${JSON.stringify(answer.content)}`);
    },
  },
  test_elicitation: {
    schema: object({ message: string }, ["message"]),
    run: async ({ message }, context) => {
      const answer = await context.mcpReq.elicitInput({
        message: String(message),
        requestedSchema: {
          type: "object",
          properties: {
            username: { type: "string", description: "User's response" },
            email: { type: "string", description: "User's email address" },
          },
          required: ["username", "email"],
        },
      });
      return text(`User response: <action: ${answer.action}, content: ${JSON.stringify(answer.content)}>`);
    },
  },
  test_elicitation_sep1034_defaults: {
    run: async (_args, context) => {
      const answer = await context.mcpReq.elicitInput({
        message: "Defaults",
        requestedSchema: {
          type: "object",
          properties: {
            name: { type: "string", default: "John Doe" },
            age: { type: "integer", default: 30 },
            score: { type: "number", default: 95.5 },
            status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
            verified: { type: "boolean", default: true },
          },
        },
      });
      return text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content)}`);
    },
  },
  test_elicitation_sep1330_enums: {
    run: async (_args, context) => {
      const answer = await context.mcpReq.elicitInput({
        message: "Enums",
        requestedSchema: {
          type: "object",
          properties: {
            untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
            titledSingle: { type: "string", oneOf: titled("value", ["First Option", "Second Option", "Third Option"]) },
            legacyEnum: {
              type: "string",
              enum: ["opt1", "opt2", "opt3"],
              enumNames: ["Option One", "Option Two", "Option Three"],
            },
            untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
            titledMulti: {
              type: "array",
              items: { anyOf: titled("value", ["First Choice", "Second Choice", "Third Choice"]) },
            },
          },
        },
      });
      return text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content)}`);
    },
  },
  test_reconnection: {
    run: async (_args, context) => {
      context.http?.closeSSE?.();
      await pause(100);
      return text("reconnected");
    },
  },
  json_schema_2020_12_tool: {
    schema: SCHEMA_2020,
    description: "Tool with JSON Schema 2020-12 features",
    run: (args) => text(JSON.stringify(args)),
  },
  test_x_mcp_header: {
    schema: {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" }, level: { type: "integer" } },
    },
    run: (args) => text(`region=${String(args["region"])}`),
  },
  test_missing_capability: { run: () => inputRequired({ inputRequests: { s: sample("hi", 10) } }) },
  test_logging_tool: {
    run: async (_args, context) => {
      await context.mcpReq.log("info", "a log line");
      return text("logged");
    },
  },
  test_trigger_tool_change: { run: () => (changes.tools(), text("changed")) },
  test_trigger_prompt_change: { run: () => (changes.prompts(), text("changed")) },
  test_input_required_result_elicitation: askName,
  test_streaming_elicitation: askName,
  test_input_required_result_sampling: {
    run: (_args, context) => {
      const answer = responses(context)["capital_question"];
      return answer
        ? text(`Answer: ${JSON.stringify(answer)}`)
        : inputRequired({ inputRequests: { capital_question: sample("What is the capital of France?", 100) } });
    },
  },
  test_input_required_result_list_roots: {
    run: (_args, context) => {
      const answer = responses(context)["client_roots"];
      return answer
        ? text(`Roots: ${JSON.stringify(answer)}`)
        : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    },
  },
  test_input_required_result_request_state: {
    run: async (_args, context) => {
      if (!accepted(context, "confirm")) return await confirmWithState({ t: 1 });
      if (!context.mcpReq.requestState()) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid requestState");
      }
      return text("state-ok");
    },
  },
  test_input_required_result_tampered_state: {
    run: async (_args, context) =>
      context.mcpReq.requestState() !== undefined && accepted(context, "confirm")
        ? text("integrity-ok")
        : await confirmWithState({ t: 2 }),
  },
  test_input_required_result_multiple_inputs: {
    run: async (_args, context) => {
      const given = responses(context);
      if (given["user_name"] && given["greeting"] && given["client_roots"]) return text(JSON.stringify(given));
      return inputRequired({
        inputRequests: {
          user_name: ask("What is your name?", nameForm),
          greeting: sample("Generate a greeting", 50),
          client_roots: inputRequired.listRoots(),
        },
        requestState: await state.mint({ t: 3 }),
      });
    },
  },
  test_input_required_result_multi_round: {
    run: async (_args, context) => {
      const round = context.mcpReq.requestState<Json>()?.["round"];
      const name = accepted(context, "step1"), color = accepted(context, "step2");
      if (round === 2 && color) return text(`color ${String(color["color"])}`);
      if (round === 1 && name) {
        const colorForm: FormSchema = { type: "object", properties: { color: string }, required: ["color"] };
        return inputRequired({
          inputRequests: { step2: ask("Step 2: What is your favorite color?", colorForm) },
          requestState: await state.mint({ round: 2, n: crypto.randomUUID() }),
        });
      }
      return inputRequired({
        inputRequests: { step1: ask("Step 1: What is your name?", nameForm) },
        requestState: await state.mint({ round: 1, n: crypto.randomUUID() }),
      });
    },
  },
  test_input_required_result_capabilities: {
    run: (_args, context) => {
      if (Object.keys(responses(context)).length) return text("ok");
      const declared = { ...Object(context.mcpReq.envelope) }["io.modelcontextprotocol/clientCapabilities"] ?? {};
      const inputRequests = {
        ...("elicitation" in declared && { e: ask("name?", nameForm) }),
        ...("sampling" in declared && { s: sample("hi", 10) }),
      };
      return Object.keys(inputRequests).length ? inputRequired({ inputRequests }) : text("no capabilities declared");
    },
  },
});

const confirmWithState = async (value: Json): Promise<InputRequiredResult> =>
  inputRequired({
    inputRequests: {
      confirm: ask("Please confirm", { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] }),
    },
    requestState: await state.mint(value),
  });

const RESOURCES = [
  {
    uri: "test://static-text",
    name: "static-text",
    mimeType: "text/plain",
    text: "This is the content of the static text resource.",
  },
  { uri: "test://static-binary", name: "static-binary", mimeType: "image/png", blob: PNG },
  { uri: "test://watched-resource", name: "watched-resource", mimeType: "text/plain", text: "watched" },
];

type PromptAnswer = GetPromptResult | InputRequiredResult;
type Message = GetPromptResult["messages"][number];
const user = (content: Message["content"]): Message => ({ role: "user", content });
const says = (value: string): Message => user({ type: "text", text: value });

const PROMPTS: Readonly<Record<string, { args?: string[]; run(args: Json, context: ServerContext): PromptAnswer }>> = {
  test_simple_prompt: { run: () => ({ messages: [says("This is a simple prompt for testing.")] }) },
  test_prompt_with_arguments: {
    args: ["arg1", "arg2"],
    run: (a) => ({
      messages: [says(`Prompt with arguments: arg1='${String(a["arg1"])}', arg2='${String(a["arg2"])}'`)],
    }),
  },
  test_prompt_with_embedded_resource: {
    args: ["resourceUri"],
    run: (a) => ({
      messages: [
        user({
          type: "resource",
          resource: {
            uri: String(a["resourceUri"]),
            mimeType: "text/plain",
            text: "Embedded resource content for testing.",
          },
        }),
        says("Please process the embedded resource above."),
      ],
    }),
  },
  test_prompt_with_image: {
    run: () => ({
      messages: [user({ type: "image", data: PNG, mimeType: "image/png" }), says("Please analyze the image above.")],
    }),
  },
  test_input_required_result_prompt: {
    run: (_args, context) => {
      const given = accepted(context, "user_context");
      if (given) return { messages: [says(String(given["context"]))] };
      const form: FormSchema = { type: "object", properties: { context: string }, required: ["context"] };
      return inputRequired({ inputRequests: { user_context: ask("What context should the prompt use?", form) } });
    },
  },
};

/** Capabilities and helpers that the fixtures need beside those of the product. */
export const SERVER_OPTIONS: Partial<ServerOptions> = {
  capabilities: { prompts: { listChanged: true }, logging: {} },
  jsonSchemaValidator: new AjvJsonSchemaValidator(),
  requestState: { verify: state.verify },
};

/** Puts the fixtures in place of the product's tools, resources and prompts. */
export function install(server: Server, changes: ListChanges): void {
  const all = fixtures(changes);
  server.setRequestHandler("tools/list", () => ({
    tools: Object.entries(all).map(([name, f]) => ({
      name,
      description: f.description ?? `fixture ${name}`,
      inputSchema: f.schema ?? object(),
    })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const fixture = all[params.name];
    if (!fixture) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    return await fixture.run(params.arguments ?? {}, context, params._meta?.progressToken);
  });
  server.setRequestHandler("resources/list", () => ({
    resources: RESOURCES.map(({ uri, name, mimeType }) => ({ uri, name, mimeType, description: name })),
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }],
  }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id !== undefined) {
      const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri, mimeType: "application/json", text: data }] };
    }
    const found = RESOURCES.find((r) => r.uri === uri);
    if (!found) throw new ResourceNotFoundError(uri);
    const { mimeType, blob } = found;
    return { contents: [blob === undefined ? { uri, mimeType, text: found.text ?? "" } : { uri, mimeType, blob }] };
  });
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
  server.setRequestHandler("prompts/list", () => ({
    prompts: Object.entries(PROMPTS).map(([name, p]) => ({
      name,
      description: name,
      ...(p.args && { arguments: p.args.map((a) => ({ name: a, description: a, required: true })) }),
    })),
  }));
  server.setRequestHandler("prompts/get", ({ params }, context) => {
    const prompt = PROMPTS[params.name];
    if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${params.name}`);
    return prompt.run(isObject(params.arguments) ? params.arguments : {}, context);
  });
  server.setRequestHandler("completion/complete", () => ({ completion: { values: [], total: 0, hasMore: false } }));
}
