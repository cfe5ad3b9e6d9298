/**
 * `deno task test:hardware`: the serial driver on a real kernel with a real 16550 and a real FTDI adapter, both emulated
 * by QEMU. What a PTY cannot show is checked here: modem lines, parity, break, unplugging. Exit code 0 when all passed.
 */
import { checkPrograms, Missing, prepareKernel } from "./kernel.ts";
import { Machine, type Wire } from "./machine.ts";

const CACHE = new URL("../../.cache/hardware", import.meta.url).pathname;
const GUEST = new URL("guest.ts", import.meta.url).pathname;
/** With software emulation a run takes about half a minute. */
const DEADLINE_MS = 300_000;

const bundle = async (): Promise<string> => {
  const program = `${CACHE}/guest.js`;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--platform", "deno", "--output", program, GUEST],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return program;
};

interface Result {
  name: string;
  ok: boolean;
  detail: string;
}

/** The host's part of the checks, and the count of them. */
class Session {
  passed = 0;
  failed = 0;
  ended = false;
  readonly #machine: Machine;
  readonly #wires: Readonly<Record<"uart" | "ftdi", Wire>>;

  constructor(machine: Machine, uart: Wire, ftdi: Wire) {
    this.#machine = machine;
    this.#wires = { uart, ftdi };
  }

  /** Acts on each line of the guest until it ends. */
  async follow(console: ReadableStream<string>): Promise<void> {
    for await (const line of console) await this.#line(line);
  }

  async #line(line: string): Promise<void> {
    const [, word, rest = ""] = /^@(\w+) ?(.*)$/.exec(line) ?? [];
    if (word === "result") this.#report(parseResult(rest));
    else if (word === "host") await this.#act(rest);
    else if (word === "end") this.ended = rest === "0";
    else if (line.trim()) console.log(`  ${line.trim()}`);
  }

  #report({ name, ok, detail }: Result): void {
    if (ok) this.passed++;
    else this.failed++;
    console.log(`${ok ? "ok    " : "FAILED"} ${name}${detail ? `\n       ${detail}` : ""}`);
  }

  async #act(request: string): Promise<void> {
    const [verb, wire, ...words] = request.split(" ");
    const encode = (text: string) => new TextEncoder().encode(text);
    const { uart, ftdi } = this.#wires;
    if (verb === "expect") {
      const wanted = words.join(" ");
      const from = wire === "uart" ? uart : ftdi;
      await within(10_000, from.receive((all) => all.includes(wanted)));
    } else if (verb === "break") {
      const IAC_BREAK = new Uint8Array([0xff, 0xf3]);
      for (const part of [encode("AB"), IAC_BREAK, encode("CD")]) {
        await uart.send(part);
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    } else if (verb === "discard") void uart.discard();
    else if (verb === "greet") await ftdi.send(encode("hello\n"));
    else if (verb === "unplug") await this.#machine.unplug("adapter1");
    else if (verb === "plug") await this.#machine.plug("adapter2");
    else throw new Error(`the guest asks for something unknown: ${request}`);
  }
}

const parseResult = (json: string): Result => {
  const { name, ok, detail } = JSON.parse(json);
  return { name: String(name), ok: ok === true, detail: String(detail) };
};

const within = <T>(ms: number, promise: Promise<T>): Promise<T> => {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`took longer than ${ms} ms`)), ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/** Waits for QEMU to offer its sockets. */
const connect = async (machine: Machine, name: "uart" | "ftdi"): Promise<Wire> => {
  for (let tries = 0;; tries++) {
    try {
      return await machine.wire(name);
    } catch (error) {
      if (tries > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
};

const runMachine = async (): Promise<boolean> => {
  const kernel = await prepareKernel(CACHE);
  const machine = await Machine.start({ ...kernel, program: await bundle() });
  const started = performance.now();
  let session: Session | undefined;
  let problem = "";
  try {
    session = new Session(machine, await connect(machine, "uart"), await connect(machine, "ftdi"));
    await within(DEADLINE_MS, session.follow(machine.console()));
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const complaint = await machine.stop();
  if (problem) console.error(`stopped: ${problem}`);
  if (!session?.ended) console.error(`the guest did not come to its end${complaint && `; QEMU says: ${complaint}`}`);
  // A run that stopped short left checks out: that is a failure too, and is counted as one.
  const stopped = session?.ended !== true || problem !== "";
  const passed = session?.passed ?? 0;
  const failed = (session?.failed ?? 0) + (stopped ? 1 : 0);
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`${passed} passed, ${failed} failed (${seconds} s)`);
  return passed > 0 && failed === 0;
};

try {
  await checkPrograms();
  Deno.exit(await runMachine() ? 0 : 1);
} catch (error) {
  if (!(error instanceof Missing)) throw error;
  console.error(error.message);
  Deno.exit(2);
}
