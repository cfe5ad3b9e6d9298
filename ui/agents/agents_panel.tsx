/** Who else is working: switches, calls that wait for a yes, and every call as it happens. */
import { useState } from "preact/hooks";
import type { AskView, CallView } from "../../src/core/page_protocol.ts";
import { Button, Switch } from "../controls/button.tsx";
import { t } from "../i18n/mod.ts";
import { ago, took } from "../lib/format.ts";
import { act } from "../lib/server.ts";
import { layout, setLayout } from "../lib/settings.ts";
import { asks, calls, second, server, serverNow } from "../lib/store.ts";
import { offline } from "../panes/toolbar.tsx";

/** Calls that wait for a yes, wherever the person is looking. */
export function FloatingAsks() {
  const { side, tab } = layout.value;
  if (asks.value.length === 0 || (side && tab === "agents")) return null;
  return (
    <div class="asks" role="alert">
      {asks.value.map((ask) => <Ask key={ask.askId} ask={ask} />)}
    </div>
  );
}

function Ask({ ask }: { ask: AskView }) {
  second.value;
  const left = Math.max(0, ask.endsAt - serverNow());
  return (
    <section class="ask" aria-label={t("ask.region")}>
      <h3>{t("ask.title", { who: ask.who, tool: ask.tool })}</h3>
      <p>
        {ask.consequence}
        {ask.argsShort && (
          <>
            <br />
            <code>{ask.argsShort}</code>
          </>
        )}
      </p>
      <div class="acts">
        <Button
          path={`dialog.ask.allow-${ask.askId}`}
          label={t("ask.allow")}
          look="primary"
          personOnly
          onClick={() => act("server.answerAsk", { askId: ask.askId, yes: true })}
        >
          {t("ask.allow")}
        </Button>
        <Button
          path={`dialog.ask.refuse-${ask.askId}`}
          label={t("ask.refuse")}
          personOnly
          onClick={() => act("server.answerAsk", { askId: ask.askId, yes: false })}
        >
          {t("ask.refuse")}
        </Button>
        <span class="grow" />
        <span class="num faint">{t("ask.left", { span: ago(left) })}</span>
      </div>
    </section>
  );
}

function Call({ call }: { call: CallView }) {
  const [open, setOpen] = useState(false);
  const running = call.ms === null;
  if (running) second.value;
  const span = took(running ? Math.max(0, serverNow() - call.startedAt) : call.ms ?? 0);
  const kind = running ? "call run" : call.ok === false ? "call bad" : "call";
  const who = call.kind === "page" ? t("calls.you") : call.kind === "cli" ? t("calls.cli") : call.who;
  return (
    <li>
      <Button
        path={`mcp.calls.call-${call.id}`}
        label={t("calls.one", { tool: call.tool, who, span })}
        class={kind}
        ownName
        unlisted="row"
        expanded={open}
        onClick={() => setOpen(!open)}
      >
        <code class="cut">{call.tool}</code>
        <span class="num">{span}</span>
        <small>{who}{call.argsShort ? `: ${call.argsShort}` : ""}</small>
        {call.error !== null && <span class="fx why">{call.error}</span>}
        {call.effects.length > 0 && (
          <span class="fx">
            {open
              ? call.effects.join("\n")
              : call.effects.slice(0, 2).join(", ") + (call.effects.length > 2 ? ", …" : "")}
          </span>
        )}
      </Button>
    </li>
  );
}

export function AgentsPanel() {
  const view = server.value;
  const [mine, setMine] = useState(false);
  const shown = calls.value.filter((c) => mine || c.kind !== "page");
  return (
    <>
      <div class="switches">
        <Switch
          path="mcp.agents.readOnlyBig"
          label={t("agents.readOnlyLong")}
          end
          class={view?.readOnly ? "warned" : ""}
          on={view?.readOnly === true}
          disabledReason={offline()}
          onChange={(on) => act("server.setReadOnly", { on })}
        />
        <Switch
          path="mcp.agents.askPerson"
          label={t("agents.ask")}
          end
          on={view?.askPerson === true}
          personOnly
          disabledReason={offline()}
          onChange={(on) => act("server.setAskPerson", { on })}
        />
        <Switch path="mcp.agents.showMine" label={t("agents.showMine")} end on={mine} onChange={setMine} />
      </div>
      {asks.value.map((ask) => <Ask key={ask.askId} ask={ask} />)}
      {shown.length === 0
        ? (
          <div class="hint">
            <b>{view?.hasAgents ? t("calls.quiet") : t("calls.nobody")}</b>
            <p>{t("calls.nobodyHint")}</p>
            <div class="acts">
              <Button
                path="mcp.agents.howToConnect"
                label={t("top.connect")}
                onClick={() => setLayout({ tab: "connect" })}
              >
                {t("top.connect")}
              </Button>
            </div>
          </div>
        )
        : (
          <ul class="calls" aria-label={t("calls.title")}>
            {shown.toReversed().map((c) => <Call key={c.id} call={c} />)}
          </ul>
        )}
    </>
  );
}
