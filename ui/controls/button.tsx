import type { ComponentChildren } from "preact";
import { type ControlSpec, useControl } from "./registry.ts";
import { Icon, type IconName } from "./icon.tsx";
import { run } from "./run.ts";

interface Common extends Omit<ControlSpec, "kind" | "options"> {
  /** Keys that do the same, shown in the tooltip. */
  keys?: string | undefined;
  class?: string | undefined;
}

export interface ButtonProps extends Common {
  icon?: IconName | undefined;
  /** What it shows; without it only the icon, named by the label. */
  children?: ComponentChildren;
  /** Two states: the button is a toggle. */
  pressed?: boolean | undefined;
  expanded?: boolean | undefined;
  look?: "primary" | "quiet" | "plain" | "danger";
  /** It shows a menu or a dialog. */
  popup?: "menu" | "dialog" | undefined;
  current?: boolean | undefined;
  /** What it shows is its name (a row with several parts); the label is only for the registry. */
  ownName?: boolean;
  onClick(event: MouseEvent): unknown;
}

/** A disabled button can be reached and says why it is disabled. */
export function Button(props: ButtonProps) {
  const { pressed, expanded, icon, children, look = "plain", keys, popup, onClick, current } = props;
  const ref = useControl({ ...props, kind: pressed === undefined ? "button" : "toggle" });
  const disabled = Boolean(props.disabledReason);
  const classes = [look === "plain" ? "" : look, icon && children === undefined ? "iconic" : "", props.class ?? ""];
  const tip = [children === undefined ? props.label : "", props.disabledReason ?? ""].filter(Boolean).join(". ");
  const given = typeof children === "string" || typeof children === "number" ? String(children) : undefined;
  return (
    <button
      type="button"
      ref={ref as { current: HTMLButtonElement | null }}
      class={classes.filter(Boolean).join(" ") || undefined}
      aria-label={props.ownName || given === props.label ? undefined : props.label}
      aria-pressed={pressed === undefined ? undefined : pressed ? "true" : "false"}
      aria-expanded={expanded === undefined ? undefined : expanded ? "true" : "false"}
      aria-haspopup={popup}
      aria-disabled={disabled ? "true" : undefined}
      aria-current={current ? "true" : undefined}
      aria-description={props.disabledReason ?? undefined}
      data-tip={tip || (keys ? props.label : undefined)}
      data-keys={keys}
      onClick={(event) => {
        if (disabled) return;
        run(props.path, () => onClick(event));
      }}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

export interface SwitchProps extends Common {
  on: boolean;
  /** The label stands first, the switch at the end of the row. */
  end?: boolean;
  onChange(on: boolean): unknown;
}

export function Switch(props: SwitchProps) {
  const ref = useControl({ ...props, kind: "toggle" });
  const disabled = Boolean(props.disabledReason);
  return (
    <button
      type="button"
      role="switch"
      ref={ref as { current: HTMLButtonElement | null }}
      class={`switch${props.end ? " end" : ""}${props.class ? ` ${props.class}` : ""}`}
      aria-checked={props.on ? "true" : "false"}
      aria-disabled={disabled ? "true" : undefined}
      aria-description={props.disabledReason ?? undefined}
      data-tip={props.disabledReason ?? undefined}
      data-keys={props.keys}
      onClick={() => {
        if (!disabled) run(props.path, () => props.onChange(!props.on));
      }}
    >
      {props.label}
    </button>
  );
}
