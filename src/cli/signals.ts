/** Resolves at the first SIGINT or SIGTERM (Ctrl+C and Ctrl+Break on Windows); a second one ends the process at once. */
export function untilStopped(): { stopped: Promise<Deno.Signal>; release(): void } {
  const signals: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT", "SIGBREAK"] : ["SIGINT", "SIGTERM", "SIGHUP"];
  const { promise, resolve } = Promise.withResolvers<Deno.Signal>();
  let count = 0;
  const listeners = signals.map((signal) => {
    const listener = () => {
      if (++count > 1) Deno.exit(130);
      resolve(signal);
    };
    Deno.addSignalListener(signal, listener);
    return { signal, listener };
  });
  return {
    stopped: promise,
    release: () => {
      for (const { signal, listener } of listeners) Deno.removeSignalListener(signal, listener);
    },
  };
}
