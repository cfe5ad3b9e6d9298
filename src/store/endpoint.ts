import { z } from "zod";
import { writeAtomic } from "./files.ts";

/** `mcp-endpoint.json`: where the running server is, for programs on this computer. The addresses hold the token. */
const schema = z.looseObject({
  /** Of the legacy SSE transport. */
  url: z.url(),
  /** Of streamable HTTP: what a client should use. */
  urlStreamable: z.url(),
  pid: z.int().positive(),
});
export interface Endpoint {
  url: string;
  urlStreamable: string;
  pid: number;
}

/** The two addresses of a server that listens on `origin`, such as `http://127.0.0.1:7777`. */
export function endpointOf(origin: string, token: string, pid = Deno.pid): Endpoint {
  const query = `?token=${encodeURIComponent(token)}`;
  return { url: `${origin}/sse${query}`, urlStreamable: `${origin}/mcp${query}`, pid };
}

/** Writes the file (0600, whole or not at all). */
export async function writeEndpoint(path: string, endpoint: Endpoint): Promise<void> {
  await writeAtomic(path, JSON.stringify(endpoint, null, 2) + "\n");
}

/** What the file says; undefined if there is none or it is not ours. It may speak of a server that is gone: {@link answers}. */
export async function readEndpoint(path: string): Promise<Endpoint | undefined> {
  try {
    const parsed = schema.safeParse(JSON.parse(await Deno.readTextFile(path)));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Removes the file unless another process has written it since. Never throws. */
export async function removeEndpoint(path: string, pid = Deno.pid): Promise<void> {
  const now = await readEndpoint(path);
  if (now?.pid === pid) await Deno.remove(path).catch(() => {});
}

/**
 * Whether a Fieldbench answers at this endpoint. A process id alone does not tell: it may be another program's by
 * now. One that is there but does not answer within `timeoutMs` counts as running.
 */
export async function answers(endpoint: Endpoint, timeoutMs = 2000): Promise<boolean> {
  try {
    const response = await fetch(new URL("/healthz", endpoint.urlStreamable), {
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null && "ok" in body && body.ok === true;
  } catch (error) {
    return error instanceof DOMException && error.name === "TimeoutError";
  }
}
