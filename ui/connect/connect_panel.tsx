/** How an agent connects: addresses, an entry for each client, transport, token; and what this program is. */
import { useEffect, useState } from "preact/hooks";
import type { ConnectInfo } from "../../src/core/page_protocol.ts";
import type { OutputOf } from "../../tools/mod.ts";
import { Button, Switch } from "../controls/button.tsx";
import { NumberField, Select } from "../controls/field.tsx";
import { pathPart } from "../controls/registry.ts";
import { t } from "../i18n/mod.ts";
import { notify, notifyError } from "../lib/notify.ts";
import { act, call, online } from "../lib/server.ts";
import { server } from "../lib/store.ts";
import { offline } from "../panes/toolbar.tsx";
import { FiguresDialog } from "./figures.tsx";
import { Dialog } from "../controls/overlay.tsx";

/** The real token never stands on the page: it only goes to the clipboard. */
const mask = (text: string, token: string): string => token === "" ? text : text.replaceAll(token, "••••••••");

async function copyText(text: string, what: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  notify(t("connect.copied", { what }));
}

export function ConnectPanel() {
  const view = server.value;
  const [info, setInfo] = useState<ConnectInfo | null>(null);
  const [asking, setAsking] = useState(false);
  const isOnline = online.value;
  useEffect(() => {
    if (isOnline) act("server.connectInfo", {}).then(setInfo, notifyError);
  }, [isOnline, view?.transport]);
  const token = info?.token ?? "";
  const http = view?.transport !== "sse";
  const sse = view?.transport !== "http";
  return (
    <div class="connect">
      <p>{t("connect.intro")}</p>
      <section>
        <h3>{t("connect.addresses")}</h3>
        <div class="addr">
          {http && info && <Address id="http" label={t("connect.http")} url={info.streamableUrl} token={token} />}
          {sse && info && <Address id="sse" label={t("connect.sse")} url={info.sseUrl} token={token} />}
        </div>
      </section>
      <section>
        <h3>{t("connect.clients")}</h3>
        {info?.clients.map((c) => (
          <div class="client" key={c.id}>
            <span>{c.name}</span>
            <small>{c.where === "in a terminal" ? t("connect.inTerminal") : c.where}</small>
            <Button
              path={`mcp.connect.copy-${pathPart(c.id)}`}
              label={t("connect.copyFor", { client: c.name })}
              icon="copy"
              personOnly
              onClick={() => copyText(c.snippet, c.name)}
            >
              {t("connect.copy")}
            </Button>
          </div>
        ))}
      </section>
      <section>
        <h3>{t("connect.transport")}</h3>
        <Select
          path="mcp.connect.transport"
          label={t("connect.transport")}
          class="wide"
          personOnly
          value={view?.transport ?? "both"}
          options={[
            { value: "both", label: t("transport.both") },
            { value: "http", label: t("transport.http") },
            { value: "sse", label: t("transport.sse") },
          ]}
          disabledReason={offline()}
          onChange={(transport) => act("server.setTransport", { transport })}
        />
      </section>
      <section>
        <h3>{t("connect.token")}</h3>
        <p>{t("connect.tokenHint")}</p>
        <div class="acts" style={{ marginTop: "6px" }}>
          <Button
            path="mcp.connect.resetToken"
            label={t("connect.reset")}
            look="danger"
            personOnly
            disabledReason={offline()}
            onClick={() => setAsking(true)}
          >
            {t("connect.reset")}
          </Button>
        </div>
      </section>
      <section>
        <h3>{t("connect.controlTools")}</h3>
        <Switch
          path="mcp.connect.controlTools"
          label={t("connect.controlToolsLabel")}
          end
          personOnly
          on={view?.controlTools === true}
          disabledReason={offline()}
          onChange={(on) => act("server.setControlTools", { on })}
        />
        <p>{t("connect.controlToolsHint")}</p>
      </section>
      <Records />
      <About />
      {asking && (
        <Dialog title={t("reset.title")} name="resetToken" onClose={() => setAsking(false)}>
          <p>{t("reset.text")}</p>
          <div class="choices">
            <Button path="dialog.resetToken.cancel" label={t("pane.cancel")} onClick={() => setAsking(false)}>
              {t("pane.cancel")}
            </Button>
            <Button
              path="dialog.resetToken.reset"
              label={t("connect.reset")}
              look="primary"
              personOnly
              onClick={async () => {
                const fresh = await act("server.resetToken", {});
                // The old cookie ended with the old token: this page signs in anew, where it stands.
                await fetch(`/devices?token=${encodeURIComponent(fresh.token)}`);
                setInfo(fresh);
                setAsking(false);
                notify(t("reset.done"));
              }}
            >
              {t("connect.reset")}
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

function Address({ id, label, url, token }: { id: string; label: string; url: string; token: string }) {
  return (
    <>
      <span class="soft" style={{ gridColumn: "1 / 3", fontSize: "12px" }}>{label}</span>
      <code title={mask(url, token)}>{mask(url, token)}</code>
      <Button
        path={`mcp.connect.address-${id}`}
        label={t("connect.copyAddress", { what: label })}
        icon="copy"
        personOnly
        onClick={() => copyText(url, label)}
      />
    </>
  );
}

/** The record of calls, as `mcp_config_get` and `mcp_config_set` have it. */
function Records() {
  const [config, setConfig] = useState<OutputOf<"mcp_config_get"> | null>(null);
  const isOnline = online.value;
  const load = () => call("mcp_config_get", {}).then(({ output }) => setConfig(output));
  useEffect(() => {
    if (isOnline) load().catch(notifyError);
  }, [isOnline]);
  if (!config) return null;
  const set = async (patch: Record<string, unknown>) => {
    await call("mcp_config_set", { patch });
    await load();
  };
  return (
    <section>
      <h3>{t("connect.callLog")}</h3>
      <Switch
        path="mcp.callLog.enabled"
        label={t("connect.callLogOn")}
        end
        tool="mcp_config_set"
        on={config.callLog.enabled}
        disabledReason={offline()}
        onChange={(on) => set({ callLog: { enabled: on } })}
      />
      <Switch
        path="mcp.callLog.includeResults"
        label={t("connect.callLogResults")}
        end
        tool="mcp_config_set"
        on={config.callLog.includeResults}
        disabledReason={offline()}
        onChange={(on) => set({ callLog: { includeResults: on } })}
      />
      <div class="acts" style={{ justifyContent: "space-between", marginTop: "4px" }}>
        <span class="soft">{t("connect.port")}</span>
        <NumberField
          path="mcp.server.port"
          label={t("connect.port")}
          class="num"
          tool="mcp_config_set"
          value={config.server.port}
          min={1}
          max={65_535}
          disabledReason={offline()}
          onCommit={(port) => set({ server: { port } }).then(() => notify(t("connect.portSaved")))}
        />
      </div>
    </section>
  );
}

function About() {
  const [open, setOpen] = useState(false);
  const view = server.value;
  if (!view) return null;
  return (
    <section>
      <h3>{t("connect.about")}</h3>
      <dl>
        <dt>{t("about.version")}</dt>
        <dd class="num">Fieldbench {view.version}</dd>
        <dt>{t("about.system")}</dt>
        <dd>{view.os}</dd>
        <dt>{t("about.sessions")}</dt>
        <dd class="num">{view.sessions}</dd>
      </dl>
      <div class="acts" style={{ marginTop: "8px" }}>
        <Button
          path="mcp.server.figures"
          label={t("figures.title")}
          tool="mcp_status"
          popup="dialog"
          disabledReason={offline()}
          onClick={() => setOpen(true)}
        >
          {t("figures.title")}
        </Button>
      </div>
      {open && <FiguresDialog onClose={() => setOpen(false)} />}
    </section>
  );
}
