import { main } from "./src/cli/main.ts";

if (import.meta.main) await main(Deno.args);
