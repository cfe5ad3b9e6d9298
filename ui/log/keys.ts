/** Keys of the log: by line and page, selecting with Shift, copying, and the menu of a line. */
import { copy } from "../panes/actions.ts";
import { notifyError } from "../lib/notify.ts";
import { say } from "./announce.ts";
import type { MenuPlace } from "./line_menu.tsx";
import type { LogSurface } from "./surface.ts";

function moveCursor(surface: LogSurface, box: HTMLElement, by: number, extend: boolean): void {
  const before = surface.cursor;
  const row = surface.rowBeside(by);
  if (row === undefined) return;
  if (extend) {
    if (!surface.selection.anchor) surface.selection.start({ row: before ?? row, col: by < 0 ? Infinity : 0 });
    surface.selection.extend({ row, col: by < 0 ? 0 : Infinity });
  } else surface.selection.clear();
  surface.setCursor(row);
  surface.reveal(row);
  say(box, surface.lineText(row)?.text ?? "");
}

export function useKeys(
  surface: LogSurface | null,
  box: { current: HTMLElement | null },
  openMenu: (place: MenuPlace) => void,
): (event: KeyboardEvent) => void {
  return (event) => {
    const element = box.current;
    if (!surface || !element || event.target !== element || event.altKey) return;
    const command = event.ctrlKey || event.metaKey;
    const done = () => event.preventDefault();
    switch (event.key) {
      case "ArrowUp":
      case "ArrowDown":
        if (command) return;
        done();
        return moveCursor(surface, element, event.key === "ArrowUp" ? -1 : 1, event.shiftKey);
      case "PageUp":
        done();
        return surface.scrollRows(-surface.visibleRows);
      case "PageDown":
      case " ":
        done();
        return surface.scrollRows(event.key === " " && event.shiftKey ? -surface.visibleRows : surface.visibleRows);
      case "Home":
        done();
        surface.setCursor(undefined);
        return surface.toStart();
      case "End":
        done();
        surface.setCursor(undefined);
        return surface.wantFollow(true);
      case "Escape":
        if (!surface.selection.range && surface.cursor === undefined) return;
        done();
        surface.selection.clear();
        return surface.setCursor(undefined);
      case "a":
        if (!command) return;
        done();
        return surface.selectAll();
      case "c": {
        const text = surface.copyText(true);
        if (!command || text === "") return;
        done();
        copy(text).catch(notifyError);
        return;
      }
      case "ContextMenu":
      case "F10":
      case "Enter": {
        if (event.key === "F10" && !event.shiftKey) return;
        const row = surface.cursor ?? surface.selection.head?.row ?? surface.rowBeside(0);
        if (row === undefined) return;
        done();
        const rect = element.getBoundingClientRect();
        const at = element.querySelector(`[data-row="${row}"]:not([hidden])`)?.getBoundingClientRect();
        return openMenu({ x: rect.left + 120, y: at ? at.bottom : rect.top + 20, row });
      }
    }
  };
}
