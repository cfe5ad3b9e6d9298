// Run by a test in a process of its own, which is killed while this saves the same file again and again.
import { writeAtomic } from "../../src/store/files.ts";

for (let n = 1;; n++) {
  await writeAtomic(Deno.args[0] ?? "", JSON.stringify({ n, filler: String(n % 10).repeat(100_000) }));
  if (n === 2) console.log("saving");
}
