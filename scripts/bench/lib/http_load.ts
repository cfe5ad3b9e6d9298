/** Requests over raw keep-alive connections: what the client costs must not hide what the server costs. */

export interface LoadOptions {
  port: number;
  path: string;
  headers: Record<string, string>;
  body: (id: number) => string;
  connections: number;
  requests: number;
  /** Looked for in every answer. */
  expect: string;
}

export interface LoadResult {
  seconds: number;
  /** ms, sorted. */
  latencies: Float64Array;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export async function load(options: LoadOptions): Promise<LoadResult> {
  const latencies = new Float64Array(options.requests);
  let next = 0;
  const begun = performance.now();
  const worker = async () => {
    const socket = await Deno.connect({ hostname: "127.0.0.1", port: options.port });
    socket.setNoDelay(true);
    const buffer = new Uint8Array(256 * 1024);
    for (;;) {
      const i = next++;
      if (i >= options.requests) break;
      const t = performance.now();
      await socket.write(encodeRequest(options, i + 1));
      const answer = await readAnswer(socket, buffer);
      latencies[i] = performance.now() - t;
      if (!answer.includes(options.expect)) throw new Error(`unexpected answer: ${answer.slice(0, 500)}`);
    }
    socket.close();
  };
  await Promise.all(Array.from({ length: options.connections }, worker));
  return { seconds: (performance.now() - begun) / 1000, latencies: latencies.sort() };
}

function encodeRequest({ path, port, headers, body }: LoadOptions, id: number): Uint8Array<ArrayBuffer> {
  const text = body(id);
  const head = Object.entries(headers).map(([k, v]) => `${k}: ${v}\r\n`).join("");
  return encoder.encode(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${head}content-length: ${text.length}\r\n\r\n${text}`,
  );
}

/** One answer with a Content-Length, or a chunked one. */
async function readAnswer(socket: Deno.TcpConn, buffer: Uint8Array<ArrayBuffer>): Promise<string> {
  let n = 0;
  for (;;) {
    const got = await socket.read(buffer.subarray(n));
    if (got === null) throw new Error("the server closed the connection");
    n += got;
    const text = decoder.decode(buffer.subarray(0, n));
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) continue;
    const length = /content-length: (\d+)/i.exec(text.slice(0, end))?.[1];
    if (length !== undefined ? n >= end + 4 + Number(length) : text.endsWith("0\r\n\r\n")) return text;
  }
}

export const percentile = (sorted: Float64Array, p: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? NaN;
