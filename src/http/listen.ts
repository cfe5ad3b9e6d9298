import type { App } from "./app.ts";

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** Takes no more connections, ends the sessions and resolves when all is closed. */
  close(): Promise<void>;
}

/**
 * Listens on one loopback address. Port 0 takes a free one. Throws `Deno.errors.AddrInUse` when the port is taken.
 */
export function listen(app: App, host: string, port: number): Listening {
  if (!["127.0.0.1", "::1", "localhost"].includes(host)) throw new Error(`${host} is not a loopback address`);
  const stop = new AbortController();
  const server: Deno.HttpServer<Deno.NetAddr> = Deno.serve({
    // `localhost` is one name for two addresses; the one that every client tries is 127.0.0.1.
    hostname: host === "localhost" ? "127.0.0.1" : host,
    port,
    signal: stop.signal,
    onListen: () => {},
    onError: () => new Response(null, { status: 500 }),
  }, (request) => app.fetch(request, { port: server.addr.port }));
  return {
    host,
    port: server.addr.port,
    close: async () => {
      await app.close();
      stop.abort();
      await server.finished;
    },
  };
}
