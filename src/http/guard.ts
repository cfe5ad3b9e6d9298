/** Who may speak to this server: loopback names, pages of this computer, and holders of the token. */

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** A `Host` header that names this server: loopback, with the port it listens on. */
export function isOwnHost(host: string | null, port: number): boolean {
  // What nearly every client sends.
  if (host === `127.0.0.1:${port}` || host === `localhost:${port}`) return true;
  if (host === null) return false;
  const at = host.match(/^(\[[0-9a-fA-F:]+\]|[^:]+)(?::(\d+))?$/);
  return at !== null && LOOPBACK.has((at[1] ?? "").toLowerCase()) && Number(at[2] ?? 80) === port;
}

/** A page of any port on this computer. `null` (sandboxed pages, files) is not one. */
export function isLoopbackOrigin(origin: string): boolean {
  const url = URL.parse(origin);
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") && LOOPBACK.has(url.hostname);
}

/** A page that this server itself gave. */
export function isOwnOrigin(origin: string, port: number): boolean {
  const url = URL.parse(origin);
  return url !== null && url.protocol === "http:" && isOwnHost(url.host, port);
}

/** Compares in a time that depends on `given` alone. */
export function sameSecret(given: string, secret: string): boolean {
  let difference = given.length ^ secret.length;
  for (let i = 0; i < given.length; i++) difference |= given.charCodeAt(i) ^ secret.charCodeAt(i % secret.length);
  return difference === 0;
}

export interface Secrets {
  readonly token: string;
  /** Value of the page's cookie. */
  readonly cookie: string;
}

/** Browsers send cookies to every port of a host: the name keeps two servers on one computer apart. */
export const cookieName = (port: number): string => `fieldbench-${port}`;

/**
 * The token may come as `Authorization: Bearer …` or `?token=…`; if both are given both must be right. The page's
 * cookie counts only without them, and only from a page of this server: cookies go to every port of a host.
 */
export function isAuthorized(request: Request, url: URL, secrets: Secrets, port: number): boolean {
  const header = request.headers.get("authorization");
  const query = url.search === "" ? null : url.searchParams.get("token");
  if (header === null && query === null) return hasPageCookie(request, secrets, port);
  let right = true;
  if (header !== null) {
    const bearer = header.match(/^Bearer +([^ ]{1,512}) *$/i)?.[1];
    right = sameSecret(bearer ?? "", secrets.token) && right;
  }
  if (query !== null) right = sameSecret(query.slice(0, 512), secrets.token) && right;
  return right;
}

function hasPageCookie(request: Request, secrets: Secrets, port: number): boolean {
  const origin = request.headers.get("origin");
  if (origin !== null && !isOwnOrigin(origin, port)) return false;
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  for (const part of (request.headers.get("cookie") ?? "").split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === cookieName(port) && sameSecret((value ?? "").slice(0, 512), secrets.cookie)) return true;
  }
  return false;
}
