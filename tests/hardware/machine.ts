import { TextLineStream } from "./lines.ts";
import type { Kernel } from "./kernel.ts";

/** The far end of a serial chip, on the host. Bytes are read only when asked for, so that a write can be blocked. */
export class Wire {
  readonly #connection: Deno.Conn;

  constructor(connection: Deno.Conn) {
    this.#connection = connection;
  }

  async send(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.#connection.write(bytes.subarray(at));
  }

  /** Reads until `found` is content with all that has come. */
  async receive(found: (text: string) => boolean): Promise<string> {
    const buffer = new Uint8Array(65_536);
    let text = "";
    while (!found(text)) {
      const count = await this.#connection.read(buffer);
      if (count === null) break;
      text += new TextDecoder("latin1").decode(buffer.subarray(0, count));
    }
    return text;
  }

  /** Reads and forgets, until the machine stops. */
  async discard(): Promise<void> {
    try {
      await this.receive(() => false);
    } catch {
      // The machine stopped.
    }
  }

  close(): void {
    this.#connection.close();
  }
}

export interface MachineOptions extends Kernel {
  /** Program for the guest's Deno: a single file, by its path on the host. */
  program: string;
}

/**
 * A QEMU machine with a 16550 (ttyS1) and an FTDI adapter (ttyUSB0). Its console is what the guest program prints. The
 * 16550's wire speaks telnet, because that is how a break is sent to it.
 */
export class Machine {
  readonly #process: Deno.ChildProcess;
  readonly #folder: string;

  private constructor(process: Deno.ChildProcess, folder: string) {
    this.#process = process;
    this.#folder = folder;
  }

  static async start(options: MachineOptions): Promise<Machine> {
    const folder = await Deno.makeTempDir({ prefix: "fieldbench-vm-" });
    const append = ["console=ttyS0", "loglevel=3", "panic=-1", "mitigations=off"];
    append.push(`DENO=${Deno.execPath()}`, `PROGRAM=${options.program}`);
    const socket = (name: string, extra = "") => `socket,id=${name},path=${folder}/${name},server=on,wait=off${extra}`;
    const process = new Deno.Command("qemu-system-x86_64", {
      args: [
        ["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-nic", "none"],
        // Not KVM: it is seldom there in CI, and a broken one ends QEMU where an absent one would not.
        ["-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1500"],
        ["-kernel", options.kernel, "-initrd", options.initrd, "-append", append.join(" ")],
        ["-serial", "stdio"],
        ["-chardev", socket("uart", ",telnet=on"), "-serial", "chardev:uart"],
        ["-device", "qemu-xhci,id=usb", "-chardev", socket("ftdi")],
        ["-device", "usb-serial,chardev=ftdi,id=adapter1,always-plugged=on"],
        ["-qmp", `unix:${folder}/control,server=on,wait=off`],
        ["-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"],
      ].flat(),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    return new Machine(process, folder);
  }

  /** The lines of the guest's console. */
  console(): ReadableStream<string> {
    return this.#process.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  }

  async wire(name: "uart" | "ftdi"): Promise<Wire> {
    return new Wire(await Deno.connect({ transport: "unix", path: `${this.#folder}/${name}` }));
  }

  unplug(id: string): Promise<void> {
    return this.#control("device_del", { id });
  }

  /** `device_del` only asks: the device before this one keeps the character device until QEMU has let it go. */
  async plug(id: string): Promise<void> {
    const until = performance.now() + 10_000;
    for (;;) {
      try {
        return await this.#control("device_add", { driver: "usb-serial", chardev: "ftdi", id, "always-plugged": true });
      } catch (error) {
        const inUse = error instanceof Error && error.message.includes("is in use");
        if (!inUse || performance.now() > until) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** One command by QEMU's machine protocol; throws what it answers with an error. */
  async #control(execute: string, args: Record<string, unknown>): Promise<void> {
    using connection = await Deno.connect({ transport: "unix", path: `${this.#folder}/control` });
    const lines = connection.readable.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
    const reader = lines.getReader();
    const writer = connection.writable.getWriter();
    const say = (command: unknown) => writer.write(new TextEncoder().encode(JSON.stringify(command) + "\n"));
    const answer = async () => {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) throw new Error("QEMU closed its control connection");
        if (value.includes('"error"')) throw new Error(value);
        if (value.includes('"return"')) return;
      }
    };
    await say({ execute: "qmp_capabilities" });
    await answer();
    await say({ execute, arguments: args });
    await answer();
  }

  /** Stops it if it still runs, and gives what QEMU complained about. */
  async stop(): Promise<string> {
    try {
      this.#process.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
    const complaint = await new Response(this.#process.stderr).text();
    await this.#process.status;
    await Deno.remove(this.#folder, { recursive: true });
    return complaint.trim();
  }
}
