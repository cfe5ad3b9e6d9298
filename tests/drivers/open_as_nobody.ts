/** Child of open_test.ts: opens a port as the user `nobody`, by the driver and by a bare open(2), and prints both ends. */
import { unixDriver } from "../../src/drivers/serial/unix/driver.ts";
import { PortError } from "../../src/drivers/serial/port.ts";
import { openOptions } from "../rigs/pty.ts";

const NOBODY = 65_534;
const [path = ""] = Deno.args;
const libc = Deno.dlopen("libc.so.6", { setuid: { parameters: ["i32"], result: "i32" } });
if (libc.symbols.setuid(NOBODY) !== 0) throw new Error("setuid failed");

const byDriver = async (): Promise<string> => {
  try {
    await (await unixDriver().open(openOptions(path))).close();
    return "opened";
  } catch (error) {
    return error instanceof PortError ? error.kind : String(error);
  }
};

const bare = (): string => {
  try {
    Deno.openSync(path, { read: true, write: true }).close();
    return "opened";
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
};

console.log(JSON.stringify({ driver: await byDriver(), bare: bare() }));
