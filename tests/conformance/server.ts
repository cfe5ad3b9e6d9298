/**
 * Servers for the official suite: the product's server with the suite's fixtures in place of its own tools (only tests
 * have that flag), and the same without them.
 */
import { type AppRig, startApp, TOKEN } from "../rigs/app.ts";
import { install, SERVER_OPTIONS } from "./fixtures.ts";

export interface SuiteServer extends AsyncDisposable {
  readonly url: string;
}

export async function startSuiteServer(options: { fixtures: boolean }): Promise<SuiteServer> {
  const rig: AppRig = await startApp({
    ...(options.fixtures && {
      tuning: {
        serverOptions: SERVER_OPTIONS,
        extend: (server) =>
          install(server, {
            tools: () => rig.app.endpoints.toolsChanged(),
            prompts: () => rig.app.endpoints.promptsChanged(),
          }),
      },
    }),
  });
  // Some scenarios drop the query of the address, and none can be given a header: this door adds the token.
  const where = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  const door: Deno.HttpServer<Deno.NetAddr> = Deno.serve(where, (request) => {
    const headers = new Headers(request.headers);
    headers.set("authorization", `Bearer ${TOKEN}`);
    return rig.app.fetch(new Request(request, { headers }), { port: door.addr.port });
  });
  return {
    url: `http://127.0.0.1:${door.addr.port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      await rig[Symbol.asyncDispose]();
      await door.shutdown();
    },
  };
}
