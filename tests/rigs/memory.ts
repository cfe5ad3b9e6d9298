import v8 from "node:v8";
import vm from "node:vm";

let collect: (() => void) | undefined;

/** MB that are really in use in this process: after a full collection. Resident memory says little in a test. */
export function usedMb(): number {
  if (!collect) {
    v8.setFlagsFromString("--expose-gc");
    collect = vm.runInNewContext("gc");
  }
  collect?.();
  const { heapUsed, external } = Deno.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}
