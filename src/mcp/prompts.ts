import { invalid } from "../core/errors.ts";

type Args = Readonly<Record<string, string>>;

interface PromptRow {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly { name: string; description: string; required: boolean }[];
  text(args: Args): string;
}

/** What a technician would pick from a list. */
const PROMPTS: readonly PromptRow[] = [
  {
    name: "watch_port",
    title: "Watch a port and explain errors",
    description: "Read what a device says on a serial pane and explain what goes wrong; sends nothing.",
    arguments: [{ name: "pane", description: "Serial pane; default main", required: false }],
    text: ({ pane = "main" }) =>
      `Watch serial pane "${pane}" and explain what goes wrong there.
1. serial_get_state {"pane":"${pane}"}. If it is not connected, say which ports there are and ask which one to open.
2. serial_get_output {"pane":"${pane}","format":"text","lines":200}, then log_search for error, fail, panic, timeout and reset over its rx channel.
3. Go on with log_tail {"channel":"serial:${pane}:rx","sinceSeq":…,"format":"text"} from nextSinceSeq; say so when lines were lost (missed, dropped).
For each problem: quote the line with its seq, say what it most likely means and which single check would tell. Do not send anything to the device unless I ask.`,
  },
  {
    name: "find_baud",
    title: "Find the baud rate of a silent or garbled device",
    description: "Try the usual rates on a port until the text makes sense.",
    arguments: [
      { name: "port", description: "Port, e.g. COM3 or /dev/ttyUSB0", required: true },
      { name: "probe", description: "Text to send at each rate, e.g. AT; default: only listen", required: false },
    ],
    text: ({ port = "", probe = "" }) =>
      `Find the line settings of the device on ${port}.
For each of 115200, 9600, 57600, 38400, 19200, 921600, 230400, 4800: serial_open {"port":"${port}","baud":…}${
        probe ? `, serial_send ${JSON.stringify({ data: probe, lineEnding: "crlf" })}` : ""
      }, wait two seconds, serial_get_output {"format":"text","lines":20}.
Stop at the first rate with readable text. With hex noise at every rate try parity even, then 7 data bits (serial_close, serial_set_frame). Leave the port open at the right settings and tell me the rate, the frame and an example line.`,
  },
];

export const listPrompts = () => ({
  prompts: PROMPTS.map(({ text: _, arguments: args, ...row }) => ({ ...row, arguments: [...args] })),
});

/** A prompt filled in. Throws -32602 for an unknown one or a missing argument. */
export function getPrompt(name: string, args: Args = {}) {
  const row = PROMPTS.find((p) => p.name === name);
  if (!row) throw invalid(`Unknown prompt: ${name.slice(0, 64)}. There are: ${PROMPTS.map((p) => p.name).join(", ")}.`);
  for (const a of row.arguments) {
    if (a.required && !args[a.name]) throw invalid(`${name}: missing argument "${a.name}" (${a.description}).`);
  }
  return {
    description: row.description,
    messages: [{ role: "user" as const, content: { type: "text" as const, text: row.text(args) } }],
  };
}
