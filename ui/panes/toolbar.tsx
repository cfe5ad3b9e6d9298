/** The two rows over a pane's log: what it is connected to, and how it is shown. */
import { Button } from "../controls/button.tsx";
import { Combo, Select } from "../controls/field.tsx";
import { panePath } from "../controls/registry.ts";
import type { IconName } from "../controls/icon.tsx";
import { t } from "../i18n/mod.ts";
import { act, call, online } from "../lib/server.ts";
import { layout } from "../lib/settings.ts";
import { keysOf } from "../lib/shortcuts.ts";
import { paneFlow, type PaneSettings, portName, ports } from "../lib/store.ts";
import { LogFind } from "../log/log_view.tsx";
import { copy, save, setDisplay, setView, start, stop } from "./actions.ts";
import type { LogHandle } from "./log_seam.ts";
import { LIMITS } from "../../tools/limits.ts";
import { useMemo } from "preact/hooks";

/** Rates that a technician reaches for. Any other can be typed. */
export const BAUD_RATES = [
  300,
  1200,
  2400,
  4800,
  9600,
  19_200,
  38_400,
  57_600,
  74_880,
  115_200,
  230_400,
  250_000,
  460_800,
  500_000,
  921_600,
  1_000_000,
  1_500_000,
  2_000_000,
  3_000_000,
] as const;

export const offline = (): string | null => online.value ? null : t("why.serverGone");

/** Who has a port: a pane of this program, or another program by the name that the server found. */
export function holderText(holder: string | null): string {
  if (holder === null) return t("port.inUse");
  const pane = /^pane (\S+)$/.exec(holder)?.[1];
  return pane === undefined ? t("port.usedBy", { who: holder }) : t("port.usedByPane", { pane });
}

/** Ports to choose: name first, path beside it, and who has it. */
export function portChoices(pane: PaneSettings): { value: string; label: string; disabled?: boolean }[] {
  const choices = pane.portOptions.map(({ value, label, inUse }) => {
    const port = ports.value.find((p) => p.value === value);
    const name = port?.friendlyName ?? label;
    const path = name.includes(value) ? name : `${name} (${value})`;
    const held = inUse && value !== pane.portName;
    const holder = holderText(port?.holder ?? null);
    return { value, label: held ? `${path}: ${holder}` : path };
  });
  // A select whose only option is disabled shows nothing at all.
  if (pane.port === "" && choices.length === 0) return [{ value: "", label: t("empty.noPorts") }];
  if (pane.port === "") return [{ value: "", label: t("port.none"), disabled: true }, ...choices];
  if (!choices.some((c) => c.value === pane.port)) {
    choices.unshift({ value: pane.port, label: t("port.unplugged", { port: portName(pane.port) }) });
  }
  return choices;
}

export function ConnectionBar({ pane, only }: { pane: PaneSettings; only: boolean }) {
  const name = pane.pane;
  const away = offline();
  const live = pane.status === "open" || pane.status === "opening" || pane.status === "lost";
  const label = pane.status === "open"
    ? t("pane.stop")
    : pane.status === "opening"
    ? t("pane.cancel")
    : pane.status === "lost"
    ? t("pane.stopWaiting")
    : t("pane.start");
  return (
    <div class="bar" role="group" aria-label={t("pane.connection", { pane: name })}>
      {!only && <span class="who cut" title={pane.label || name}>{pane.label || name}</span>}
      <Select
        path={panePath(name, "conn", "portSelect")}
        label={t("pane.port")}
        class="port"
        tool="serial_select_port"
        value={pane.port}
        options={portChoices(pane)}
        disabledReason={away}
        onChange={(port) => call("serial_select_port", { pane: name, port })}
      />
      <Button
        path={panePath(name, "conn", "rescan")}
        label={t("pane.rescan")}
        keys={keysOf("rescan")}
        icon="rescan"
        look="quiet"
        tool="serial_list_ports"
        disabledReason={away}
        onClick={() => act("ports.rescan", {})}
      />
      <Combo
        path={panePath(name, "conn", "baud")}
        label={t("pane.baud")}
        listLabel={t("pane.baudList")}
        class="baud"
        tool="serial_set_baud"
        value={pane.baud}
        choices={BAUD_RATES}
        min={LIMITS.minBaud}
        max={LIMITS.maxBaud}
        disabledReason={away}
        onCommit={(baud) => call("serial_set_baud", { pane: name, baud })}
      />
      <Select
        path={panePath(name, "conn", "lineEnding")}
        label={t("pane.ending")}
        class="ending"
        tool="serial_set_display"
        value={pane.lineEnding}
        options={[
          { value: "crlf", label: "CRLF" },
          { value: "lf", label: "LF" },
          { value: "cr", label: "CR" },
          { value: "none", label: t("pane.endingNone") },
        ]}
        disabledReason={away}
        onChange={(lineEnding) => setDisplay(name, { lineEnding })}
      />
      <Button
        path={panePath(name, "conn", "start")}
        label={label}
        keys={keysOf("start")}
        class="start"
        look={live ? "plain" : "primary"}
        tool={live ? "serial_close" : "serial_open"}
        // Also while it is closing: the server opens it as soon as it is closed, so no press is lost.
        disabledReason={away ?? (!live && pane.port === "" ? t("why.noPort") : null)}
        onClick={() => live ? stop(name) : start(name)}
      >
        {pane.status === "lost" ? t("pane.stop") : label}
      </Button>
      {name !== "main" && (
        <Button
          path={panePath(name, "conn", "closePane")}
          label={t("pane.close", { pane: pane.label || name })}
          keys={keysOf("closePane")}
          icon="close"
          look="quiet"
          disabledReason={away}
          onClick={() => act("pane.close", { pane: name })}
        />
      )}
    </div>
  );
}

export function ToolRow({ pane, handle }: { pane: PaneSettings; handle: { current: LogHandle | null } }) {
  const name = pane.pane;
  const away = offline();
  const inTerminal = pane.terminalMode ? t("why.terminal") : null;
  const view = pane.viewMode === "hex" ? "hex" : layout.value.both.includes(name) ? "both" : "text";
  const toggle = (
    id: string,
    icon: IconName,
    label: string,
    keys: string,
    on: boolean,
    change: () => unknown,
    reason: string | null = away,
  ) => (
    <Button
      path={panePath(name, "view", id)}
      label={label}
      icon={icon}
      keys={keys}
      look="quiet"
      pressed={on}
      tool="serial_set_display"
      disabledReason={reason}
      onClick={change}
    />
  );
  return (
    <div class="tools" role="toolbar" aria-label={t("pane.view", { pane: name })}>
      <Select
        path={panePath(name, "view", "mode")}
        label={t("view.mode")}
        class="mode"
        tool="serial_set_display"
        value={view}
        options={[
          { value: "text", label: t("view.text") },
          { value: "hex", label: t("view.hex") },
          { value: "both", label: t("view.both") },
        ]}
        disabledReason={away ?? inTerminal}
        onChange={(v) => setView(name, v, pane.viewMode)}
      />
      <div class="icons">
        {toggle("follow", "follow", t("view.follow"), keysOf("follow"), pane.autoScroll, () =>
          setDisplay(name, { autoScroll: !pane.autoScroll }))}
        {toggle("timestamps", "clock", t("view.timestamps"), keysOf("timestamps"), pane.timestamp, () =>
          setDisplay(name, { timestamp: !pane.timestamp }), away ?? inTerminal)}
        {toggle("lineNumbers", "lines", t("view.lineNumbers"), keysOf("lineNumbers"), pane.lineNum, () =>
          setDisplay(name, { lineNum: !pane.lineNum }), away ?? inTerminal)}
        {toggle("echo", "echo", t("view.echo"), keysOf("echo"), pane.echo, () =>
          setDisplay(name, { echo: !pane.echo }), away ?? inTerminal)}
        {toggle("autoReconnect", "reconnect", t("view.autoReconnect"), keysOf("reconnect"), pane.autoReconnect, () =>
          setDisplay(name, { autoReconnect: !pane.autoReconnect }))}
        {toggle("terminal", "terminal", t("view.terminal"), keysOf("terminal"), pane.terminalMode, () =>
          setDisplay(name, { terminalMode: !pane.terminalMode }))}
        {pane.terminalMode &&
          toggle("lineBuffer", "lineBuffer", t("view.lineBuffer"), "", pane.lineBuf, () =>
            setDisplay(name, { lineBuf: !pane.lineBuf }))}
        <span class="sep" />
        <Button
          path={panePath(name, "view", "copy")}
          label={t("view.copy")}
          icon="copy"
          keys={keysOf("copy")}
          look="quiet"
          tool="serial_get_output"
          onClick={() =>
            copy(handle.current?.copyText() ?? "")}
        />
        <Button
          path={panePath(name, "view", "save")}
          label={t("view.save")}
          icon="save"
          keys={keysOf("save")}
          look="quiet"
          disabledReason={away}
          onClick={() =>
            save(name)}
        />
        <Button
          path={panePath(name, "view", "clear")}
          label={t("view.clear")}
          icon="clear"
          keys={keysOf("clear")}
          look="quiet"
          tool="serial_clear"
          disabledReason={away}
          onClick={() =>
            call("serial_clear", { pane: name })}
        />
        <Button
          path={panePath(name, "view", "more")}
          label={t("view.more")}
          icon="sliders"
          keys={keysOf("more")}
          look="quiet"
          pressed={pane.advOpen}
          tool="serial_set_display"
          disabledReason={away}
          onClick={() =>
            setDisplay(name, { advOpen: !pane.advOpen })}
        />
      </div>
      {!pane.terminalMode && (
        <div class="find-slot">
          <LogFind pane={name} />
        </div>
      )}
    </div>
  );
}

/** For components that show what moves while data flows. */
export const useFlow = (name: string) => useMemo(() => paneFlow(name), [name]).value;
