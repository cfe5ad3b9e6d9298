/** The mouse in the log: selecting by dragging, by word and by line, over more than is in view; the menu of a line. */
import { wordAt } from "./selection.ts";
import type { LogSurface } from "./surface.ts";

const SCROLL_MS = 40;

export function watchPointer(
  surface: LogSurface,
  box: HTMLElement,
  openMenu: (x: number, y: number, row: number) => void,
): () => void {
  let dragging = false;
  let onBar = false;
  let last = { x: 0, y: 0 };
  let timer: ReturnType<typeof setInterval> | undefined;
  const extend = () => {
    const place = surface.placeAt(last.x, last.y);
    if (!place) return;
    surface.selection.extend(place);
    surface.selectionChanged();
  };
  const down = (event: PointerEvent) => {
    const rect = box.getBoundingClientRect();
    if (event.clientX - rect.left > box.clientWidth || event.clientY - rect.top > box.clientHeight) {
      // The scroll bar: new lines must not pull it out of the hand.
      onBar = event.clientX - rect.left > box.clientWidth;
      if (onBar) surface.wantFollow(false);
      return;
    }
    if (event.button !== 0) return;
    if (event.pointerType === "touch") return;
    event.preventDefault();
    box.focus({ preventScroll: true });
    const place = surface.placeAt(event.clientX, event.clientY);
    if (!place) return;
    surface.setCursor(undefined);
    if (event.shiftKey) surface.selection.extend(place);
    else if (event.detail === 2) {
      const text = surface.lineText(place.row)?.text ?? "";
      const [from, to] = wordAt(text, place.col);
      surface.selection.set({ row: place.row, col: from }, { row: place.row, col: to });
    } else if (event.detail >= 3) {
      surface.selection.set({ row: place.row, col: 0 }, { row: place.row, col: Infinity });
    } else surface.selection.start(place);
    surface.selectionChanged();
    dragging = event.detail < 2;
    last = { x: event.clientX, y: event.clientY };
    if (dragging) box.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    if (!dragging) return;
    last = { x: event.clientX, y: event.clientY };
    extend();
    const rect = box.getBoundingClientRect();
    const outside = last.y < rect.top || last.y > rect.bottom;
    if (!outside) {
      clearInterval(timer);
      timer = undefined;
      return;
    }
    timer ??= setInterval(() => {
      surface.scrollRows(last.y < box.getBoundingClientRect().top ? -2 : 2);
      extend();
    }, SCROLL_MS);
  };
  const up = () => {
    if (onBar && box.scrollTop + box.clientHeight >= box.scrollHeight - 2) surface.wantFollow(true);
    dragging = onBar = false;
    clearInterval(timer);
    timer = undefined;
  };
  const wheel = (event: WheelEvent) => {
    if (event.deltaY < 0 && box.scrollHeight > box.clientHeight) surface.wantFollow(false);
  };
  let touchY = 0;
  const touchStart = (event: TouchEvent) => touchY = event.touches[0]?.clientY ?? 0;
  const touchMove = (event: TouchEvent) => {
    if ((event.touches[0]?.clientY ?? 0) > touchY + 4) surface.wantFollow(false);
  };
  const menu = (event: MouseEvent) => {
    const row = surface.rowAtY(event.clientY);
    if (row === undefined || event.clientX === 0 && event.clientY === 0) return;
    event.preventDefault();
    openMenu(event.clientX, event.clientY, row);
  };
  box.addEventListener("pointerdown", down);
  box.addEventListener("pointermove", move);
  box.addEventListener("pointerup", up);
  box.addEventListener("pointercancel", up);
  box.addEventListener("wheel", wheel, { passive: true });
  box.addEventListener("touchstart", touchStart, { passive: true });
  box.addEventListener("touchmove", touchMove, { passive: true });
  box.addEventListener("contextmenu", menu);
  return () => {
    clearInterval(timer);
    box.removeEventListener("pointerdown", down);
    box.removeEventListener("pointermove", move);
    box.removeEventListener("pointerup", up);
    box.removeEventListener("pointercancel", up);
    box.removeEventListener("wheel", wheel);
    box.removeEventListener("touchstart", touchStart);
    box.removeEventListener("touchmove", touchMove);
    box.removeEventListener("contextmenu", menu);
  };
}
