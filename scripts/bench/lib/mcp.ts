/** The least of an MCP client that a benchmark needs: one session, calls, no SDK. */
export class BenchClient {
  #next = 1;
  readonly #url: string;
  readonly #headers: Record<string, string>;

  private constructor(url: string, token: string) {
    this.#url = url;
    this.#headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${token}`,
    };
  }

  static async connect(endpoint: { urlStreamable: string; token: string }): Promise<BenchClient> {
    const url = new URL(endpoint.urlStreamable);
    url.search = "";
    const client = new BenchClient(url.href, endpoint.token);
    const response = await client.#post({
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
    });
    const id = response.headers.get("mcp-session-id");
    if (id) client.#headers["mcp-session-id"] = id;
    await response.body?.cancel();
    await (await client.#post({ method: "notifications/initialized" })).body?.cancel();
    return client;
  }

  #post(message: Record<string, unknown>): Promise<Response> {
    return fetch(this.#url, {
      method: "POST",
      headers: this.#headers,
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  }

  /** `structuredContent` of a call; throws with the text of an error. */
  async call(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const response = await this.#post({ id: this.#next++, method: "tools/call", params: { name, arguments: args } });
    const { result, error } = await response.json();
    if (error || result.isError) throw new Error(error?.message ?? result.content[0].text);
    return result.structuredContent;
  }

  async close(): Promise<void> {
    await (await fetch(this.#url, { method: "DELETE", headers: this.#headers })).body?.cancel();
  }
}
