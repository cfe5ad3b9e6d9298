import { z } from "zod";
import { TOOLS } from "../../tools/mod.ts";
import { type Command, jsonFlag } from "./command.ts";

export const command: Command = {
  usage: "fieldbench tools",
  flags: jsonFlag,
  notes: "With --json: name, access, description and input schema of each.",
  run(parsed, io) {
    if (parsed.boolean("json")) {
      const all = TOOLS.map((t) => ({
        name: t.name,
        group: t.group,
        access: t.access,
        title: t.title,
        description: t.description,
        inputSchema: z.toJSONSchema(t.input, { io: "input" }),
      }));
      io.out(JSON.stringify(all, null, 2));
      return Promise.resolve(0);
    }
    const width = Math.max(...TOOLS.map((t) => t.name.length)) + 2;
    let group = "";
    for (const t of TOOLS) {
      if (t.group !== group) io.out(`${group ? "\n" : ""}${t.group}`);
      group = t.group;
      io.out(`  ${t.name.padEnd(width)}${t.access === "write" ? "write  " : "       "}${t.title}`);
    }
    return Promise.resolve(0);
  },
};
