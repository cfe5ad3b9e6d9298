import type { ServerState } from "../handlers/server_state.ts";
import { newToken } from "../store/mcp_config.ts";

/** Which control tools agents may have. */
export interface ControlToolSettings {
  on: boolean;
  /** Panels; empty: all. */
  namespaces: readonly string[];
}

/** What of the server only a person sets: kept in mcp.json, then in force at once. No tool leads here. */
export class Switches {
  readonly server: ServerState;
  readonly #onToken: (() => void | Promise<void>) | undefined;

  /** `onToken`: a new token is in the settings; puts it in force where it was copied and ends what used the old one. */
  constructor(server: ServerState, options: { onToken?: (() => void | Promise<void>) | undefined } = {}) {
    this.server = server;
    this.#onToken = options.onToken;
  }

  get controlTools(): ControlToolSettings {
    const { autoControlTools, namespaces } = this.server.settings.value.expose;
    return { on: autoControlTools, namespaces };
  }

  /** A dangerous call waits for a yes on the page. */
  get askPerson(): boolean {
    return this.server.settings.value.expose.askPerson;
  }

  async setAskPerson(on: boolean): Promise<void> {
    await this.server.settings.update((now) => ({ ...now, expose: { ...now.expose, askPerson: on } }));
  }

  async setControlTools(on: boolean, namespaces: readonly string[] | undefined): Promise<void> {
    await this.server.settings.update((now) => {
      const panels = namespaces === undefined ? now.expose.namespaces : [...namespaces];
      return { ...now, expose: { ...now.expose, autoControlTools: on, namespaces: panels } };
    });
  }

  /** False where the token cannot be changed. */
  async resetToken(): Promise<boolean> {
    if (!this.#onToken) return false;
    await this.server.settings.update((now) => ({ ...now, token: newToken() }));
    await this.#onToken();
    return true;
  }
}
