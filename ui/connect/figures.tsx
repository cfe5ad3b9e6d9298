/** The server in figures: what runs, how many calls, which tools are dangerous, every limit. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { OutputOf } from "../../tools/mod.ts";
import { Button } from "../controls/button.tsx";
import { Dialog } from "../controls/overlay.tsx";
import { t } from "../i18n/mod.ts";
import { bytes, clockSpan, count } from "../lib/format.ts";
import { notify, notifyError } from "../lib/notify.ts";
import { call } from "../lib/server.ts";

interface Figures {
  app: OutputOf<"app_info">;
  status: OutputOf<"mcp_status">;
  stats: OutputOf<"mcp_stats">;
  danger: OutputOf<"mcp_danger">;
  limits: OutputOf<"mcp_limits">;
}

async function load(): Promise<Figures> {
  const [app, status, stats, danger, limits] = await Promise.all([
    call("app_info", {}),
    call("mcp_status", {}),
    call("mcp_stats", {}),
    call("mcp_danger", {}),
    call("mcp_limits", {}),
  ]);
  return {
    app: app.output,
    status: status.output,
    stats: stats.output,
    danger: danger.output,
    limits: limits.output,
  };
}

/** The record of calls as a table, for a report. */
async function copyRecord(): Promise<void> {
  const { text } = await call("mcp_calls", { format: "md", limit: 200 });
  await navigator.clipboard.writeText(text);
  notify(t("figures.recordCopied"));
}

export function FiguresDialog({ onClose }: { onClose: () => void }) {
  const [figures, setFigures] = useState<Figures | null>(null);
  useEffect(() => {
    load().then(setFigures, notifyError);
  }, []);
  return (
    <Dialog title={t("figures.title")} name="figures" onClose={onClose}>
      {figures ? <Tables figures={figures} /> : <p role="status">{t("figures.loading")}</p>}
    </Dialog>
  );
}

function Tables({ figures: { app, status, stats, danger, limits } }: { figures: Figures }) {
  const tools = Object.entries(stats.sessionToolCalls).toSorted((a, b) => b[1] - a[1]);
  return (
    <div class="figures">
      <Facts
        title={t("figures.program")}
        rows={[
          [t("about.version"), `${app.name} ${app.version}`],
          [t("about.system"), `${app.os} ${app.arch}`],
          [t("figures.uptime"), clockSpan(app.uptimeSecs * 1000)],
          [t("about.sessions"), count(status.sessions)],
          [t("figures.requests"), count(status.requests)],
          [t("figures.rateLimited"), count(status.rateLimited)],
          [t("figures.tools"), count(status.toolCount)],
          [t("figures.log"), `${bytes(status.logHub.totalBytes)} / ${bytes(status.logHub.totalCapBytes)}`],
        ]}
      />
      <Facts
        title={t("figures.record")}
        rows={[
          [t("figures.recorded"), count(stats.callLog.totalCalls)],
          [t("figures.file"), stats.callLog.file],
          [t("figures.fileSize"), bytes(stats.callLog.fileBytes)],
        ]}
      >
        <Button
          path="dialog.figures.copyRecord"
          label={t("figures.copyRecord")}
          icon="copy"
          tool="mcp_calls"
          onClick={copyRecord}
        >
          {t("figures.copyRecord")}
        </Button>
      </Facts>
      {tools.length > 0 && <Facts title={t("figures.byTool")} rows={tools.map(([name, n]) => [name, count(n)])} />}
      <Facts
        title={t("figures.danger")}
        rows={danger.tools.map((one) => [one.name, one.consequence])}
        none={t("figures.noDanger")}
      />
      <Facts
        title={t("figures.limits")}
        rows={Object.entries(limits).map((
          [name, value],
        ) => [name, typeof value === "number" ? count(value) : String(value)])}
      />
    </div>
  );
}

function Facts(
  props: { title: string; rows: readonly (readonly [string, string])[]; none?: string; children?: ComponentChildren },
) {
  return (
    <section>
      <h3>{props.title}</h3>
      {props.rows.length === 0 ? <p class="soft">{props.none}</p> : (
        <dl>
          {props.rows.map(([name, value]) => (
            <>
              <dt key={name}>{name}</dt>
              <dd class="num">{value}</dd>
            </>
          ))}
        </dl>
      )}
      {props.children}
    </section>
  );
}
