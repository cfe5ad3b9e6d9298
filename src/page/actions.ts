import type { z } from "zod";
import type { Bench } from "../bench/bench.ts";
import type { Pane } from "../bench/pane.ts";
import { failed, invalid } from "../core/errors.ts";
import type { ActionOutput, ConnectInfo } from "../core/page_protocol.ts";
import { actionInputs, type ActionName } from "../core/page_schema.ts";
import type { RequestContext } from "./page_connection.ts";
import type { PaneViews } from "./pane_views.ts";
import type { Person } from "./person.ts";
import type { PageSettings } from "./settings.ts";
import type { Switches } from "./switches.ts";

type Inputs = typeof actionInputs;
type Action<A extends ActionName> = {
  run(args: z.output<Inputs[A]>, context: RequestContext): ActionOutput<A> | Promise<ActionOutput<A>>;
}["run"];
type Actions = { readonly [A in ActionName]: Action<A> };

export interface ActionServices {
  bench: Bench;
  views: PaneViews;
  person: Person;
  settings: PageSettings;
  switches: Switches;
  /** Addresses with the token, as they are now. */
  connectInfo: () => ConnectInfo;
  /** Page settings changed. */
  onSettings: () => void;
  /** Which control tools agents may have changed. */
  onControlTools: () => void;
}

/** What a person does on the page and no tool does. An action that is named in the schemas and not here does not compile. */
export function actionsOf(services: ActionServices): Actions {
  const { bench, views, person, settings, switches } = services;
  const pane = (name: string): Pane => bench.panes.need(name);
  const tell = (text: string) => bench.hub.log("app", "info", text, { src: "ui" });
  const done = {};
  return {
    "pane.add": () => ({ pane: bench.panes.add().name }),
    "pane.close": async (args) => {
      await bench.panes.remove(args.pane);
      return done;
    },
    "pane.setLabel": (args) => {
      pane(args.pane).setLabel(args.label);
      return done;
    },
    "pane.setPacing": (args) => {
      pane(args.pane).setPacing(args);
      return done;
    },
    "pane.setLinesAtOpen": (args) => {
      pane(args.pane).setLinesAtOpen(args);
      return done;
    },
    "pane.sendBreak": async (args, { signal }) => {
      await pane(args.pane).output.sendBreak(args.ms ?? 250, { src: "ui", signal });
      return done;
    },
    "pane.setFrame": ({ pane: name, ...frame }) => {
      pane(name).setFrame({
        dataBits: frame.dataBits && DATA_BITS[frame.dataBits],
        stopBits: frame.stopBits && STOP_BITS[frame.stopBits],
        parity: frame.parity,
      });
      return done;
    },
    "pane.keys": async (args, { signal }) => {
      await pane(args.pane).output.sendRaw(new TextEncoder().encode(args.data), { src: "ui", signal });
      return done;
    },
    "pane.sendFile": async (args, context) => {
      const { signal, progress } = context;
      tell(`serial:${args.pane}: sending the file ${args.name} (${args.size} bytes)`);
      const bytes = await pane(args.pane).output.sendStream(context.chunks(), args.size, {
        src: "ui",
        signal,
        progress: (sent, total) => progress(sent, total),
      });
      // The page went away, or canceled, while the file was still on its way to us.
      if (signal.aborted) {
        throw failed("canceled", `Canceled: ${bytes} of ${args.size} bytes went.`, undefined, { bytes });
      }
      return { bytes };
    },
    "ports.rescan": () => {
      views.touch();
      return done;
    },
    "server.setReadOnly": async ({ on }) => {
      await kept(switches.server.setReadOnly(on));
      tell(`read-only mode ${on ? "on: agents can look, not change" : "off"}`);
      return done;
    },
    "server.pauseAgents": ({ on }) => {
      person.paused = on;
      tell(on ? "agents are paused" : "agents go on");
      return done;
    },
    "server.setTransport": async ({ transport }) => {
      await kept(switches.server.setTransport(transport));
      tell(`transport: ${transport}`);
      return done;
    },
    "server.setControlTools": async ({ on, namespaces }) => {
      await kept(switches.setControlTools(on, namespaces));
      services.onControlTools();
      tell(`a tool for each control: ${on ? "on" : "off"}`);
      return done;
    },
    "server.resetToken": async () => {
      if (!await kept(switches.resetToken())) {
        throw failed("unsupported", "The token of this server is fixed by its start.");
      }
      tell("a new token is in force; clients with the old one must be set up again");
      return services.connectInfo();
    },
    "server.setAskPerson": async ({ on }) => {
      await kept(switches.setAskPerson(on));
      tell(`dangerous calls ${on ? "wait for a yes on the page" : "need no yes on the page"}`);
      return done;
    },
    "server.answerAsk": ({ askId, yes }) => {
      if (!person.answer(askId, yes)) throw failed("timed_out", "This call no longer waits for an answer.");
      return done;
    },
    "server.connectInfo": () => services.connectInfo(),
    "ui.save": async ({ key, value }) => {
      const saved = await kept(settings.save(key, value));
      services.onSettings();
      if (!saved) throw failed("full", "There are as many page settings as can be kept.");
      return done;
    },
    "log.saveAs": (args) => {
      const query = new URLSearchParams();
      if (args.channel !== undefined) {
        if (!bench.hub.find(args.channel)) throw invalid(`No channel ${args.channel}. See log_channels.`);
        query.set("channel", args.channel);
      } else query.set("pane", pane(args.pane ?? "main").name);
      const kind = args.channel === undefined ? args.kind ?? "text" : "text";
      query.set("kind", kind);
      return { url: `/page/save?${query}`, name: saveName(args.channel ?? args.pane ?? "main", kind) };
    },
  };
}

/** `serial-main-rx.log`: a file name of letters that every system takes. */
export const saveName = (what: string, kind: "text" | "rx" | "tx"): string =>
  `${what.replace(/[^A-Za-z0-9._-]+/g, "-")}${kind === "text" ? ".log" : `.${kind}.bin`}`;

const DATA_BITS = { "5": 5, "6": 6, "7": 7, "8": 8 } as const;
const STOP_BITS = { "1": 1, "1.5": 1.5, "2": 2 } as const;

/** A setting that cannot be written: in the words of the store. */
async function kept<T>(saving: Promise<T>): Promise<T> {
  try {
    return await saving;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw failed("write_failed", `It could not be saved: ${why}`);
  }
}

const isAction = (name: string): name is ActionName => Object.hasOwn(actionInputs, name);

/** Checks an action and its arguments and runs it. Throws -32602 for what does not fit. */
export async function runAction(
  actions: Actions,
  name: string,
  args: unknown,
  context: RequestContext,
): Promise<{ output: unknown; text: string }> {
  if (!isAction(name)) throw invalid(`Unknown action: ${name}`);
  return { output: await parsedAction(actions, name, args, context), text: "" };
}

async function parsedAction<A extends ActionName>(
  actions: Actions,
  name: A,
  args: unknown,
  context: RequestContext,
): Promise<ActionOutput<ActionName>> {
  const parsed = actionInputs[name].safeParse(args);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw invalid(`${name}: ${issue?.path.join(".") || "arguments"}: ${issue?.message}`);
  }
  const run: ErasedAction = actions[name];
  return await run(parsed.data, context);
}

/** Name and arguments are paired by {@link parsedAction}: the schema of the name checked them. */
type ErasedAction = {
  run(args: unknown, context: RequestContext): ActionOutput<ActionName> | Promise<ActionOutput<ActionName>>;
}["run"];
