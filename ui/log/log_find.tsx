/** Find, filter and plot: stands in the tool row of a pane and works on its log through the model they share. */
import { useEffect, useState } from "preact/hooks";
import { Button } from "../controls/button.tsx";
import { Checkbox, Select, TextField } from "../controls/field.tsx";
import { Popover } from "../controls/overlay.tsx";
import { panePath } from "../controls/registry.ts";
import { type Key, t } from "../i18n/mod.ts";
import { count } from "../lib/format.ts";
import { isFiltered, type LogModel, logModel, setTimeMode } from "./log_model.ts";
import { type Filter, type ShownDirection, type ShownLevel } from "./match.ts";
import type { TimeMode } from "./paint.ts";

const DIRECTIONS: readonly (readonly [ShownDirection, Key])[] = [
  ["both", "log.dirBoth"],
  ["rx", "log.dirRx"],
  ["tx", "log.dirTx"],
];
const LEVELS: readonly (readonly [ShownLevel, Key])[] = [
  ["all", "log.levelAll"],
  ["info", "log.levelInfo"],
  ["warn", "log.levelWarn"],
  ["error", "log.levelError"],
];
const TIMES: readonly (readonly [TimeMode, Key])[] = [
  ["absolute", "log.timeAbsolute"],
  ["relative", "log.timeRelative"],
  ["between", "log.timeBetween"],
];

function Choice<T extends string>(props: {
  path: string;
  label: string;
  value: T;
  all: readonly (readonly [T, Key])[];
  onChange: (value: T) => void;
}) {
  return (
    <div class="field">
      <span aria-hidden="true">{props.label}</span>
      <Select
        path={props.path}
        label={props.label}
        value={props.value}
        options={props.all.map(([value, key]) => ({ value, label: t(key) }))}
        onChange={props.onChange}
      />
    </div>
  );
}

function FilterPopover(
  { model, path, onClose }: { model: LogModel; path: (id: string) => string; onClose: () => void },
) {
  const filter = model.filter.value;
  const set = (part: Partial<Filter>) => model.filter.value = { ...model.filter.peek(), ...part };
  return (
    <Popover label={t("log.filter")} under={path("filter")} onClose={onClose}>
      <div class="log-filter">
        <Checkbox
          path={path("case")}
          label={t("log.case")}
          checked={model.caseSensitive.value}
          onChange={(on) => model.caseSensitive.value = on}
        />
        <Checkbox
          path={path("regex")}
          label={t("log.regex")}
          checked={model.regex.value}
          onChange={(on) => model.regex.value = on}
        />
        {model.problem.value !== "" && <p class="bad" role="status">{model.problem.value}</p>}
        <Choice
          path={path("direction")}
          label={t("log.direction")}
          value={filter.direction}
          all={DIRECTIONS}
          onChange={(direction) => set({ direction })}
        />
        <Choice
          path={path("level")}
          label={t("log.level")}
          value={filter.level}
          all={LEVELS}
          onChange={(level) => set({ level })}
        />
        <div class="field">
          <span aria-hidden="true">{t("log.only")}</span>
          <TextField
            path={path("only")}
            label={t("log.only")}
            type="search"
            value={filter.text}
            maxLength={512}
            onInput={(text) => set({ text })}
          />
        </div>
        <Choice
          path={path("times")}
          label={t("log.times")}
          value={model.timeMode.value}
          all={TIMES}
          onChange={(mode) => setTimeMode(model, mode)}
        />
      </div>
    </Popover>
  );
}

export function LogFind({ pane }: { pane: string }) {
  const model = logModel(pane);
  const [open, setOpen] = useState(false);
  const path = (id: string) => panePath(pane, "log", id);
  const pattern = model.pattern.value;
  const found = model.found.value;
  const none = pattern === "" ? t("why.noPattern") : null;
  useEffect(() => () => setOpen(false), [pane]);
  return (
    <div
      class="log-find"
      role="group"
      aria-label={t("log.find")}
      onKeyDown={(event) => {
        if (!(event.target instanceof HTMLInputElement) || event.target.dataset.control !== path("find")) return;
        if (event.key === "Enter") {
          event.preventDefault();
          model.step?.(event.shiftKey ? -1 : 1);
        } else if (event.key === "Escape") {
          event.preventDefault();
          model.pattern.value = "";
          model.focusLog?.();
        }
      }}
    >
      <TextField
        path={path("find")}
        label={t("log.find")}
        placeholder={t("log.find")}
        type="search"
        value={pattern}
        maxLength={512}
        onInput={(value) => model.pattern.value = value}
      />
      {pattern !== "" && (
        <span
          class={`num${found.count === 0 && !found.busy ? " none" : ""}`}
          role="status"
          aria-label={t("log.count", { n: found.count })}
        >
          {model.problem.value !== ""
            ? "!"
            : found.at > 0
            ? `${count(found.at)} / ${count(found.count)}`
            : count(found.count)}
          {found.busy ? "…" : ""}
        </span>
      )}
      {pattern !== "" && (
        <>
          <Button
            path={path("previous")}
            label={t("log.previous")}
            icon="up"
            keys="Shift+Enter"
            look="quiet"
            disabledReason={none}
            onClick={() => model.step?.(-1)}
          />
          <Button
            path={path("next")}
            label={t("log.next")}
            icon="down"
            keys="Enter"
            look="quiet"
            disabledReason={none}
            onClick={() => model.step?.(1)}
          />
        </>
      )}
      <Button
        path={path("filter")}
        label={t("log.filter")}
        icon="filter"
        look="quiet"
        class={isFiltered(model.filter.value) ? "on" : ""}
        expanded={open}
        popup="dialog"
        onClick={() => setOpen(!open)}
      />
      <Button
        path={path("plot")}
        label={t("plot.toggle")}
        icon="plot"
        look="quiet"
        pressed={model.plot.value}
        onClick={() => model.plot.value = !model.plot.peek()}
      />
      {open && <FilterPopover model={model} path={path} onClose={() => setOpen(false)} />}
    </div>
  );
}
