import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { systemDriver } from "../../src/drivers/serial/mod.ts";
import { PortError } from "../../src/drivers/serial/port.ts";
import { eventually, failureOf, openPort, openPty, readExactly } from "../rigs/pty.ts";
import { skipped } from "../rigs/skip.ts";

const text = (value: string) => new TextEncoder().encode(value);
const isRoot = Deno.uid() === 0;

const refusal = async (path: string): Promise<PortError> => {
  const error = await failureOf(openPort(path));
  assert.ok(error instanceof PortError, String(error));
  return error;
};

/** Runs `command` while `use` does; stopped afterwards. */
const beside = async (command: string[], use: (child: Deno.ChildProcess) => Promise<void>): Promise<void> => {
  const [program = "", ...args] = command;
  const child = new Deno.Command(program, { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
  try {
    await use(child);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
};

/** Runs a program of this folder to its end and parses what it printed. */
const outcomeOf = async (script: string, ...args: string[]): Promise<unknown> => {
  const path = new URL(script, import.meta.url).pathname;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: ["run", "-A", path, ...args] }).output();
  const decoder = new TextDecoder();
  assert.notEqual(stdout.length, 0, decoder.decode(stderr));
  return JSON.parse(decoder.decode(stdout));
};

Deno.test("a name that is not there, a file and a device that is no tty are told apart", async () => {
  const missing = await refusal("/dev/ttyNOTHERE");
  assert.equal(missing.kind, "not_found");
  assert.match(missing.message, /\/dev\/ttyNOTHERE/);
  assert.equal((await refusal("/dev/null")).kind, "not_a_port");
  const file = await Deno.makeTempFile();
  assert.equal((await refusal(file)).kind, "not_a_port");
  assert.equal((await refusal(`${file}/below`)).kind, "not_found");
  await Deno.remove(file);
});

Deno.test("a port that another program has locked is refused with its name, and no byte is stolen [SO03]", async () => {
  const pty = openPty();
  await beside(["flock", "--no-fork", pty.path, "sleep", "60"], async (child) => {
    const holder = await eventually("the lock is taken", () => systemDriver().holder(pty.path)?.match(/^sleep/)?.input);
    await pty.write(text("for the holder"));
    const started = performance.now();
    const error = await refusal(pty.path);
    assert.ok(performance.now() - started < 1000);
    assert.equal(error.kind, "in_use");
    assert.equal(error.holder, `sleep (pid ${child.pid})`);
    assert.equal(holder, error.holder);
    assert.match(error.message, /held by sleep/);
  });
  const port = await eventually("the lock is free", () => openPort(pty.path).catch(() => undefined));
  assert.equal(Buffer.from(await readExactly(port, 14)).toString(), "for the holder");
  await port.close();
  await pty.close();
});

Deno.test("a lock whose taker has ended is told by the program that keeps the port open [SO03]", async () => {
  const pty = openPty();
  // flock(1) locks the descriptor of its parent and ends; /proc/locks goes on naming flock(1).
  const script = 'exec 9<>"$0" && flock 9 && exec sleep 60';
  await beside(["sh", "-c", script, pty.path], async (child) => {
    const named = `sleep (pid ${child.pid})`;
    await eventually("the holder shows", () => systemDriver().holder(pty.path) === named);
    const error = await refusal(pty.path);
    assert.deepEqual([error.kind, error.holder], ["in_use", named]);
  });
  await pty.close();
});

Deno.test("an open port cannot be locked by another program, and can again once it is closed [SO03]", async () => {
  const pty = openPty();
  const lock = async () =>
    (await new Deno.Command("flock", { args: ["--nonblock", pty.path, "true"], stderr: "null" }).output()).code;
  const port = await openPort(pty.path);
  assert.equal(await lock(), 1);
  await port.close();
  assert.equal(await lock(), 0);
  await pty.close();
});

Deno.test("two panes of this program cannot share a port; the first one is named", async () => {
  const pty = openPty();
  const driver = systemDriver();
  assert.equal(driver.holder(pty.path), undefined, "free, although the PTY's maker has it open");
  const port = await openPort(pty.path);
  const error = await refusal(pty.path);
  assert.equal(error.kind, "in_use");
  assert.match(error.holder ?? "", new RegExp(`\\(pid ${Deno.pid}\\)$`));
  assert.equal(driver.holder(pty.path), error.holder);
  await port.write(text("still mine"));
  assert.equal(Buffer.from(await readExactly(pty, 10)).toString(), "still mine");
  await port.close();
  assert.equal(driver.holder(pty.path), undefined);
  await (await openPort(pty.path)).close();
  await pty.close();
});

Deno.test("a program that has a port open without locking it is named as its holder", async () => {
  const pty = openPty();
  await beside(["sh", "-c", `exec sleep 60 < ${pty.path}`], async (child) => {
    const named = `sleep (pid ${child.pid})`;
    await eventually("the holder shows", () => systemDriver().holder(pty.path) === named);
  });
  await pty.close();
});

Deno.test("the name of a link is followed when the holder is looked for", async () => {
  const pty = openPty();
  const folder = await Deno.makeTempDir();
  const link = `${folder}/port`;
  await Deno.symlink(pty.path, link);
  const port = await openPort(link);
  assert.equal(port.path, link);
  assert.match(systemDriver().holder(link) ?? "", /pid/);
  await port.close();
  await pty.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test({
  name: "who has no right to a port is told so, and TIOCEXCL keeps other users out [SO03]" +
    skipped(!isRoot, "needs root"),
  ignore: !isRoot, // needs to become someone else
  fn: async () => {
    const pty = openPty();
    await Deno.chmod(pty.path, 0o600);
    assert.deepEqual(await outcomeOf("open_as_nobody.ts", pty.path), {
      driver: "no_permission",
      bare: "EACCES",
    });
    await Deno.chmod(pty.path, 0o666);
    const free = await outcomeOf("open_as_nobody.ts", pty.path);
    assert.deepEqual(free, { driver: "opened", bare: "opened" });
    const port = await openPort(pty.path);
    // The bare open(2) knows nothing of flock: only TIOCEXCL can refuse it.
    assert.deepEqual(await outcomeOf("open_as_nobody.ts", pty.path), { driver: "in_use", bare: "EBUSY" });
    await port.close();
    assert.deepEqual(await outcomeOf("open_as_nobody.ts", pty.path), free);
    await pty.close();
  },
});

Deno.test({
  name: "a program that asks for exclusive use by TIOCEXCL alone is respected [SO03]" + skipped(!isRoot, "needs root"),
  ignore: !isRoot,
  fn: async () => {
    const pty = openPty();
    await Deno.chmod(pty.path, 0o666);
    const holder = new URL("./hold_exclusive.ts", import.meta.url).pathname;
    await beside([Deno.execPath(), "run", "-A", "--quiet", holder, pty.path], async () => {
      await eventually("it is held", async () => {
        const outcome = await outcomeOf("open_as_nobody.ts", pty.path);
        return JSON.stringify(outcome) === JSON.stringify({ driver: "in_use", bare: "EBUSY" });
      });
    });
    await pty.close();
  },
});
