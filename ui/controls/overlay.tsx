/** What floats: a popover under its button, a modal dialog, the tooltip, and the toasts. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n/mod.ts";
import { dismiss, toasts } from "../lib/notify.ts";
import { Button } from "./button.tsx";

export interface PopoverProps {
  label: string;
  /** Path of the button that it hangs under. */
  under: string;
  onClose(): void;
  children: ComponentChildren;
}

const byPath = (path: string): HTMLElement | null => document.querySelector(`[data-control="${CSS.escape(path)}"]`);

export function Popover({ label, under, onClose, children }: PopoverProps) {
  const ref = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState({ left: "-999px", top: "0px" });
  useLayoutEffect(() => {
    const anchor = byPath(under)?.getBoundingClientRect();
    const box = ref.current?.getBoundingClientRect();
    if (!anchor || !box) return;
    const left = Math.max(8, Math.min(anchor.right - box.width, innerWidth - box.width - 8));
    setAt({ left: `${left}px`, top: `${anchor.bottom + 5}px` });
    ref.current?.querySelector<HTMLElement>("button, select, input")?.focus();
  }, [under]);
  useEffect(() => {
    const away = (event: MouseEvent) => {
      const target = event.target;
      if (target instanceof Node && !ref.current?.contains(target) && !byPath(under)?.contains(target)) onClose();
    };
    document.addEventListener("mousedown", away);
    return () => document.removeEventListener("mousedown", away);
  }, [under, onClose]);
  return (
    <div
      class="popover"
      role="dialog"
      aria-label={label}
      ref={ref}
      style={at}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
        byPath(under)?.focus();
      }}
    >
      {children}
    </div>
  );
}

export interface DialogProps {
  title: string;
  /** Registry name of its close button: `dialog.<name>.close`. */
  name: string;
  onClose(): void;
  children: ComponentChildren;
}

export function Dialog({ title, name, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal?.();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onClose={onClose}
      onMouseDown={(event) => event.target === event.currentTarget && onClose()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button path={`dialog.${name}.close`} label={t("action.close")} icon="close" look="quiet" onClick={onClose} />
      </header>
      <div class="body">{children}</div>
    </dialog>
  );
}

export function Toasts() {
  return (
    <div class="toasts" aria-live="polite" role="status">
      {toasts.value.map((one) => (
        <div key={one.id} class={`toast ${one.kind}`}>
          <p>
            {one.text}
            {one.detail && <small>{one.detail}</small>}
          </p>
          <Button
            path={`dialog.toast.dismiss-${one.id}`}
            label={t("action.dismiss")}
            icon="close"
            look="quiet"
            unlisted="notice"
            onClick={() => dismiss(one.id)}
          />
        </div>
      ))}
    </div>
  );
}

interface Tip {
  text: string;
  keys: string;
  left: string;
  top: string;
}

/** One tooltip for all: names of icons, key hints, reasons. Everything in it is also a name or a description. */
export function Tooltip() {
  const [tip, setTip] = useState<Tip | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hide = () => {
      clearTimeout(timer);
      setTip(null);
    };
    const show = (target: EventTarget | null, delay: number) => {
      const owner = target instanceof Element ? target.closest<HTMLElement>("[data-tip]") : null;
      hide();
      if (!owner) return;
      timer = setTimeout(() => {
        const box = owner.getBoundingClientRect();
        const below = box.bottom + 40 < innerHeight;
        setTip({
          text: owner.dataset.tip ?? "",
          keys: owner.dataset.keys ?? "",
          left: `${Math.max(6, Math.min(box.left, innerWidth - 330))}px`,
          top: `${below ? box.bottom + 6 : box.top - 32}px`,
        });
      }, delay);
    };
    const over = (event: Event) => show(event.target, 450);
    const focus = (event: Event) => {
      if (event.target instanceof Element && event.target.matches(":focus-visible")) show(event.target, 200);
    };
    document.addEventListener("pointerover", over);
    document.addEventListener("focusin", focus);
    document.addEventListener("focusout", hide);
    document.addEventListener("pointerdown", hide);
    document.addEventListener("keydown", hide);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("pointerover", over);
      document.removeEventListener("focusin", focus);
      document.removeEventListener("focusout", hide);
      document.removeEventListener("pointerdown", hide);
      document.removeEventListener("keydown", hide);
    };
  }, []);
  if (!tip) return null;
  return (
    <div class="tip" aria-hidden="true" style={{ left: tip.left, top: tip.top }}>
      <span>{tip.text}</span>
      {tip.keys && <kbd>{tip.keys}</kbd>}
    </div>
  );
}
