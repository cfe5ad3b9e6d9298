import { explain, notifyError } from "../lib/notify.ts";
import { failures, track } from "./registry.ts";

/** Runs what a control does; a failure is shown to the person and kept for a command that waits. */
export function run(path: string, work: () => unknown): void {
  const failed = (error: unknown) => {
    notifyError(error);
    failures.set(path, explain(error).text);
  };
  try {
    const started = work();
    if (started instanceof Promise) track(path, started.catch(failed));
  } catch (error) {
    failed(error);
  }
}
