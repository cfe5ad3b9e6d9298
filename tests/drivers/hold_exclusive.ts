/** Child of open_test.ts: holds a port by open(2) and TIOCEXCL alone, without flock, until it is ended. */
import { LINUX } from "../../src/drivers/serial/unix/abi.ts";

const [path = ""] = Deno.args;
const libc = Deno.dlopen("libc.so.6", {
  open: { parameters: ["buffer", "i32"], result: "i32" },
  ioctl: { parameters: ["i32", "u32"], result: "i32" },
});
const fd = libc.symbols.open(new TextEncoder().encode(`${path}\0`), LINUX.O_RDWR | LINUX.O_NOCTTY);
if (fd < 0 || libc.symbols.ioctl(fd, LINUX.TIOCEXCL) < 0) throw new Error("cannot hold the port");
setInterval(() => {}, 60_000);
