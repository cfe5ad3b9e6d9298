import { join } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json; charset=utf-8",
  map: "application/json; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
  woff2: "font/woff2",
  webmanifest: "application/manifest+json",
};

/** Names that can lead nowhere else: no empty or hidden part, no `..`, no separator of another system. */
const SAFE = /^(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;

interface Entry {
  mark: string;
  bytes: Uint8Array<ArrayBuffer>;
  etag: string;
}

/** Files of one folder, kept in memory until they change on disk; each with an ETag of its content. */
export class StaticFiles {
  readonly #folder: string;
  readonly #entries = new Map<string, Entry>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The file as a response, 304 when the client has it; undefined when there is none of this name. */
  async serve(
    request: Request,
    name: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response | undefined> {
    const entry = await this.#entry(name);
    if (!entry) return undefined;
    const all = {
      ...headers,
      etag: entry.etag,
      // Names of built files stay the same when their content changes: always asked for, rarely sent.
      "cache-control": "no-cache",
    };
    const known = request.headers.get("if-none-match")?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
    if (known?.includes(entry.etag)) return new Response(null, { status: 304, headers: all });
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
    return new Response(request.method === "HEAD" ? null : entry.bytes, {
      headers: { ...all, "content-type": type, "content-length": String(entry.bytes.length) },
    });
  }

  async #entry(name: string): Promise<Entry | undefined> {
    if (!SAFE.test(name) || name.includes("..")) return undefined;
    const path = join(this.#folder, name);
    try {
      const stat = await Deno.stat(path);
      if (!stat.isFile) return undefined;
      const mark = `${stat.size} ${stat.mtime?.getTime() ?? 0}`;
      const known = this.#entries.get(name);
      if (known?.mark === mark) return known;
      const bytes = await Deno.readFile(path);
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
      const entry = { mark, bytes, etag: `"${digest.toBase64({ alphabet: "base64url" }).slice(0, 22)}"` };
      this.#entries.set(name, entry);
      return entry;
    } catch {
      return undefined;
    }
  }
}
