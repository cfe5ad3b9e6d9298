/** More settings of a pane: frame, modem lines, their state at open, break, pacing, log folder, its name. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../controls/button.tsx";
import { Checkbox, NumberField, Select, TextField } from "../controls/field.tsx";
import { panePath } from "../controls/registry.ts";
import { type Key, t } from "../i18n/mod.ts";
import { act, call } from "../lib/server.ts";
import type { PaneSettings } from "../lib/store.ts";
import { offline } from "./toolbar.tsx";

const DATA_BITS = ["8", "7", "6", "5"] as const;
const STOP_BITS = ["1", "1.5", "2"] as const;
const PARITIES = ["none", "odd", "even", "mark", "space"] as const;
const AT_OPEN = ["high", "low", "leave"] as const;
const PARITY_KEYS: Readonly<Record<(typeof PARITIES)[number], Key>> = {
  none: "parity.none",
  odd: "parity.odd",
  even: "parity.even",
  mark: "parity.mark",
  space: "parity.space",
};
const AT_OPEN_KEYS: Readonly<Record<(typeof AT_OPEN)[number], Key>> = {
  high: "atOpen.high",
  low: "atOpen.low",
  leave: "atOpen.leave",
};

function Group({ title, children, class: name }: { title: string; children: ComponentChildren; class?: string }) {
  return (
    <fieldset class={name}>
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

/** One choice out of a list of words, with the type kept. */
function Choice<T extends string>(props: {
  path: string;
  label: string;
  value: string;
  all: readonly T[];
  name: (one: T) => string;
  tool?: string;
  reason: string | null;
  onChange: (value: T) => unknown;
}) {
  return (
    <Select
      path={props.path}
      label={props.label}
      value={props.value}
      options={props.all.map((one) => ({ value: one, label: props.name(one) }))}
      tool={props.tool}
      disabledReason={props.reason}
      onChange={props.onChange}
    />
  );
}

export function AdvancedBar({ pane, folder }: { pane: PaneSettings; folder: string }) {
  const name = pane.pane;
  const away = offline();
  const frame = away ?? (pane.status === "closed" ? null : t("why.closeFirst"));
  const notOpen = away ?? (pane.isConnected ? null : t("why.notOpen"));
  const [breakMs, setBreakMs] = useState(250);
  const at = (id: string) => panePath(name, "adv", id);
  return (
    <div class="adv" role="group" aria-label={t("adv.title", { pane: name })}>
      <Group title={t("adv.frame")}>
        <Choice
          path={at("dataBits")}
          label={t("adv.dataBits")}
          value={pane.dataBits}
          all={DATA_BITS}
          name={(b) => b}
          tool="serial_set_frame"
          reason={frame}
          onChange={(dataBits) => act("pane.setFrame", { pane: name, dataBits })}
        />
        <Choice
          path={at("parity")}
          label={t("adv.parity")}
          value={pane.parity}
          all={PARITIES}
          name={(p) => t(PARITY_KEYS[p])}
          tool="serial_set_frame"
          reason={frame}
          onChange={(parity) => act("pane.setFrame", { pane: name, parity })}
        />
        <Choice
          path={at("stopBits")}
          label={t("adv.stopBits")}
          value={pane.stopBits}
          all={STOP_BITS}
          name={(s) => s}
          tool="serial_set_frame"
          reason={frame}
          onChange={(stopBits) => act("pane.setFrame", { pane: name, stopBits })}
        />
      </Group>
      <Group title={t("adv.linesNow")}>
        <Checkbox
          path={at("dtr")}
          label="DTR"
          checked={pane.dtr}
          tool="serial_set_lines"
          disabledReason={away}
          onChange={(dtr) => call("serial_set_lines", { pane: name, dtr })}
        />
        <Checkbox
          path={at("rts")}
          label="RTS"
          checked={pane.rts}
          tool="serial_set_lines"
          disabledReason={away}
          onChange={(rts) => call("serial_set_lines", { pane: name, rts })}
        />
      </Group>
      <Group title={t("adv.atOpen")}>
        <span class="soft" aria-hidden="true">DTR</span>
        <Choice
          path={at("dtrAtOpen")}
          label={t("adv.dtrAtOpen")}
          value={pane.linesAtOpen.dtr}
          all={AT_OPEN}
          name={(s) => t(AT_OPEN_KEYS[s])}
          reason={away}
          onChange={(dtr) => act("pane.setLinesAtOpen", { pane: name, dtr })}
        />
        <span class="soft" aria-hidden="true">RTS</span>
        <Choice
          path={at("rtsAtOpen")}
          label={t("adv.rtsAtOpen")}
          value={pane.linesAtOpen.rts}
          all={AT_OPEN}
          name={(s) => t(AT_OPEN_KEYS[s])}
          reason={away}
          onChange={(rts) => act("pane.setLinesAtOpen", { pane: name, rts })}
        />
      </Group>
      <Group title={t("adv.break")}>
        <NumberField
          path={at("breakMs")}
          label={t("adv.breakMs")}
          value={breakMs}
          min={1}
          max={5000}
          onCommit={setBreakMs}
        />
        <span class="unit">ms</span>
        <Button
          path={at("sendBreak")}
          label={t("adv.sendBreak")}
          disabledReason={notOpen}
          onClick={() => act("pane.sendBreak", { pane: name, ms: Math.round(breakMs) })}
        >
          {t("adv.sendBreak")}
        </Button>
      </Group>
      <Group title={t("adv.pacing")}>
        <NumberField
          path={at("charMs")}
          label={t("adv.charMs")}
          value={pane.pacing.charMs}
          min={0}
          max={10_000}
          disabledReason={away}
          onCommit={(charMs) => act("pane.setPacing", { pane: name, ...pane.pacing, charMs })}
        />
        <span class="unit">{t("adv.perChar")}</span>
        <NumberField
          path={at("lineMs")}
          label={t("adv.lineMs")}
          value={pane.pacing.lineMs}
          min={0}
          max={10_000}
          disabledReason={away}
          onCommit={(lineMs) => act("pane.setPacing", { pane: name, ...pane.pacing, lineMs })}
        />
        <span class="unit">{t("adv.perLine")}</span>
      </Group>
      <Group title={t("adv.name")} class="name">
        <TextField
          path={at("label")}
          label={t("adv.paneName")}
          value={pane.label}
          placeholder={name}
          maxLength={64}
          disabledReason={away}
          onCommit={(label) => act("pane.setLabel", { pane: name, label })}
        />
      </Group>
      {folder !== "" && (
        <Group title={t("adv.folder")}>
          <code class="cut" title={folder}>{folder}</code>
        </Group>
      )}
    </div>
  );
}
