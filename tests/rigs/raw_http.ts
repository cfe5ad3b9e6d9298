/** Bytes to a server and back, where `fetch` would not let them through. */

export interface RawOptions {
  /** Stop after the head of the answer. */
  untilHead?: boolean;
}

/** Sends a request as it is and reads until the server closes. */
export async function rawRequest(port: number, text: string, options: RawOptions = {}): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  try {
    await writeAll(connection, new TextEncoder().encode(text));
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(16_384);
    let answer = "";
    for (;;) {
      const n = await connection.read(buffer).catch(() => null);
      if (n === null) return answer;
      answer += decoder.decode(buffer.subarray(0, n), { stream: true });
      if (options.untilHead && answer.includes("\r\n\r\n")) return answer;
    }
  } finally {
    connection.close();
  }
}

export async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
