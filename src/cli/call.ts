import { isToolName, TOOLS } from "../../tools/mod.ts";
import { readEndpoint } from "../store/endpoint.ts";
import { CliError, nearest, UsageError } from "./args.ts";
import { type Command, configDirFlag, jsonFlag } from "./command.ts";
import { pathsOf } from "./folder.ts";
import { McpCaller, NoServer } from "./mcp_caller.ts";
import { untilStopped } from "./signals.ts";

const NO_SERVER = 3;

export const command: Command = {
  usage: "fieldbench call TOOL [JSON]",
  flags: { ...jsonFlag, ...configDirFlag },
  positionals: { least: 1, most: 2 },
  notes:
    "JSON is an object with the arguments; - reads it from standard input. Prints what the tool says, with --json\n" +
    "its structured result. Exit status: 0 the tool succeeded, 1 it failed, 2 wrong arguments, 3 no server is running.\n" +
    'Example: fieldbench call serial_send \'{"data":"AT","lineEnding":"cr"}\'',
  async run(parsed, io) {
    const [tool = "", given] = parsed.positionals;
    if (!isToolName(tool) && !tool.startsWith("ctl_")) {
      const near = nearest(tool, TOOLS.map((t) => t.name));
      throw new UsageError(`unknown tool ${tool}.${near ? ` Did you mean ${near}?` : ""} fieldbench tools lists them`);
    }
    const args = objectOf(given === "-" ? await readStdin() : given ?? "{}");
    const paths = pathsOf(parsed, io);
    const none =
      `no Fieldbench is running with the configuration folder ${paths.configDir}. Start one: fieldbench serve`;
    const endpoint = await readEndpoint(paths.endpoint);
    if (!endpoint) throw new CliError(none, NO_SERVER);
    const stop = untilStopped();
    const aborted = new AbortController();
    stop.stopped.then(() => aborted.abort());
    const server = new McpCaller(endpoint.urlStreamable, aborted.signal);
    try {
      const answer = await server.call(tool, args);
      if ("error" in answer) {
        const { code, message, data } = answer.error;
        if (parsed.boolean("json")) io.out(JSON.stringify({ error: { code, message, data } }));
        io.err(`fieldbench: ${message}`);
        return code === -32602 ? 2 : 1;
      }
      if (parsed.boolean("json")) io.out(JSON.stringify(answer.structured ?? { text: answer.text }));
      else if (answer.isError) io.err(answer.text);
      else io.out(answer.text);
      return answer.isError ? 1 : 0;
    } catch (error) {
      if (aborted.signal.aborted) return 130;
      if (error instanceof NoServer) throw new CliError(none, NO_SERVER);
      throw error;
    } finally {
      await server.end();
      stop.release();
    }
  },
};

async function readStdin(): Promise<string> {
  return await new Response(Deno.stdin.readable).text();
}

function objectOf(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `the arguments are not JSON (${error instanceof Error ? error.message : error}): ${text.slice(0, 200)}`,
    );
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.fromEntries(Object.entries(value));
  }
  throw new UsageError(`the arguments must be a JSON object such as {"pane":"main"}, not ${text.slice(0, 200)}`);
}
