import { useEffect, useId, useRef, useState } from "preact/hooks";
import { type ControlSpec, useControl } from "./registry.ts";
import { Icon } from "./icon.tsx";
import { run } from "./run.ts";

interface Common extends Omit<ControlSpec, "kind"> {
  class?: string | undefined;
  /** The label is written beside the control by who uses it; else it is only its name. */
  labelledBy?: string | undefined;
}

/** After a change that the server refused or altered, the element shows what is true again. */
function useTruth(): () => void {
  const [, again] = useState(0);
  return () => again((n) => n + 1);
}

export interface SelectProps<T extends string> extends Omit<Common, "options"> {
  /** One of the options; anything else is shown as it is. */
  value: string;
  options: readonly { value: T; label: string; disabled?: boolean }[];
  onChange(value: T): unknown;
}

export function Select<T extends string>(props: SelectProps<T>) {
  const ref = useControl({ ...props, kind: "select" });
  const truth = useTruth();
  const known = props.options.some((o) => o.value === props.value);
  return (
    <select
      ref={ref as { current: HTMLSelectElement | null }}
      class={props.class}
      aria-label={props.label}
      disabled={Boolean(props.disabledReason)}
      data-tip={props.disabledReason ?? undefined}
      value={props.value}
      onChange={(event) => {
        const { value } = event.currentTarget;
        const option = props.options.find((o) => o.value === value);
        run(props.path, async () => {
          try {
            if (option) await props.onChange(option.value);
          } finally {
            truth();
          }
        });
      }}
    >
      {!known && <option value={props.value}>{props.value}</option>}
      {props.options.map((o) => <option key={o.value} value={o.value} disabled={o.disabled}>{o.label}</option>)}
    </select>
  );
}

export interface CheckboxProps extends Common {
  checked: boolean;
  onChange(checked: boolean): unknown;
}

export function Checkbox(props: CheckboxProps) {
  const ref = useControl({ ...props, kind: "checkbox" });
  const truth = useTruth();
  return (
    <label class={props.class} data-tip={props.disabledReason ?? undefined}>
      <input
        type="checkbox"
        ref={ref as { current: HTMLInputElement | null }}
        checked={props.checked}
        disabled={Boolean(props.disabledReason)}
        onChange={(event) => {
          const { checked } = event.currentTarget;
          run(props.path, async () => {
            try {
              await props.onChange(checked);
            } finally {
              truth();
            }
          });
        }}
      />
      {props.label}
    </label>
  );
}

export interface TextFieldProps extends Common {
  value: string;
  placeholder?: string;
  /** Each key. */
  onInput?(value: string): void;
  /** On Enter or when it is left, if it changed. */
  onCommit?(value: string): unknown;
  type?: "text" | "search";
  maxLength?: number;
}

export function TextField(props: TextFieldProps) {
  const ref = useControl({ ...props, kind: "text" });
  const truth = useTruth();
  return (
    <input
      type={props.type ?? "text"}
      list={undefined}
      ref={ref as { current: HTMLInputElement | null }}
      class={props.class}
      aria-label={props.label}
      placeholder={props.placeholder}
      disabled={Boolean(props.disabledReason)}
      value={props.value}
      maxLength={props.maxLength}
      autocomplete="off"
      spellcheck={false}
      onInput={(event) => props.onInput?.(event.currentTarget.value)}
      onChange={(event) => {
        const { value } = event.currentTarget;
        if (!props.onCommit || value === props.value && !props.onInput) return;
        run(props.path, async () => {
          try {
            await props.onCommit?.(value);
          } finally {
            truth();
          }
        });
      }}
    />
  );
}

export interface NumberFieldProps extends Common {
  value: number;
  min: number;
  max: number;
  onCommit(value: number): unknown;
}

/** Commits on Enter or when it is left; what is no number in range goes back to what is true. */
export function NumberField(props: NumberFieldProps) {
  const ref = useControl({ ...props, kind: "number" });
  const truth = useTruth();
  return (
    <input
      inputMode="numeric"
      ref={ref as { current: HTMLInputElement | null }}
      class={props.class}
      aria-label={props.label}
      disabled={Boolean(props.disabledReason)}
      data-tip={props.disabledReason ?? undefined}
      value={String(props.value)}
      autocomplete="off"
      onChange={(event) => {
        const value = Number(event.currentTarget.value.trim());
        const fits = event.currentTarget.value.trim() !== "" && value >= props.min && value <= props.max;
        run(props.path, async () => {
          try {
            if (fits && value !== props.value) await props.onCommit(value);
          } finally {
            truth();
          }
        });
      }}
    />
  );
}

export interface ComboProps extends Common {
  value: number;
  choices: readonly number[];
  min: number;
  max: number;
  /** Name of the button that opens the list. */
  listLabel: string;
  onCommit(value: number): unknown;
}

/** A number to type or to choose from a list: any baud rate. */
export function Combo(props: ComboProps) {
  const ref = useControl({
    ...props,
    kind: "number",
    options: props.choices.map((c) => ({ value: String(c), label: String(c) })),
  });
  const truth = useTruth();
  const id = useId();
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const list = useRef<HTMLUListElement>(null);
  const place = useRef({ left: "0px", top: "0px" });
  const input = () => ref.current instanceof HTMLInputElement ? ref.current : undefined;
  const show = () => {
    const box = ref.current?.getBoundingClientRect();
    if (box) place.current = { left: `${box.left}px`, top: `${box.bottom + 2}px` };
    setAt(props.choices.indexOf(props.value));
    setOpen(true);
  };
  const commit = (text: string) => {
    setOpen(false);
    const value = Number(text.trim());
    const fits = text.trim() !== "" && Number.isInteger(value) && value >= props.min && value <= props.max;
    run(props.path, async () => {
      try {
        if (fits && value !== props.value) await props.onCommit(value);
      } finally {
        truth();
      }
    });
  };
  useEffect(() => {
    if (open) list.current?.children[at]?.scrollIntoView?.({ block: "nearest" });
  }, [open, at]);
  return (
    <span class={`combo${props.class ? ` ${props.class}` : ""}`} data-tip={props.disabledReason ?? undefined}>
      <input
        role="combobox"
        inputMode="numeric"
        ref={ref as { current: HTMLInputElement | null }}
        class="num"
        aria-label={props.label}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-autocomplete="none"
        aria-activedescendant={open && at >= 0 ? `${id}-${at}` : undefined}
        disabled={Boolean(props.disabledReason)}
        value={String(props.value)}
        autocomplete="off"
        onFocus={(event) => event.currentTarget.select()}
        onBlur={() => setOpen(false)}
        onChange={(event) => commit(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            if (!open) return show();
            const step = event.key === "ArrowDown" ? 1 : -1;
            setAt((now) => Math.max(0, Math.min(props.choices.length - 1, now + step)));
          } else if (event.key === "Enter" && open && at >= 0) {
            event.preventDefault();
            event.currentTarget.value = String(props.choices[at]);
            commit(event.currentTarget.value);
          } else if (event.key === "Escape" && open) {
            event.stopPropagation();
            setOpen(false);
          }
        }}
      />
      <button
        type="button"
        tabIndex={-1}
        aria-label={props.listLabel}
        aria-expanded={open}
        disabled={Boolean(props.disabledReason)}
        data-part-of={props.path}
        onMouseDown={(event) => {
          event.preventDefault();
          input()?.focus();
          if (open) setOpen(false);
          else show();
        }}
      >
        <Icon name="down" />
      </button>
      {open && (
        <ul role="listbox" id={id} ref={list} aria-label={props.listLabel} style={place.current}>
          {props.choices.map((choice, i) => (
            <li
              key={choice}
              id={`${id}-${i}`}
              role="option"
              aria-selected={choice === props.value}
              class={i === at ? "at" : undefined}
              onMouseDown={(event) => {
                event.preventDefault();
                const element = input();
                if (element) element.value = String(choice);
                commit(String(choice));
              }}
            >
              {choice}
            </li>
          ))}
        </ul>
      )}
    </span>
  );
}
