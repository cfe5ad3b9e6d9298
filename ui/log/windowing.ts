/**
 * Which rows are in view. A browser caps the height of an element (17 to 33 million px), so above a bound the scroll
 * range is shorter than the rows: small moves are then taken as they are and large ones in proportion. Pure.
 */

/** Under every browser's cap, in px. */
export const MAX_HEIGHT = 16_000_000;

export interface Extent {
  rows: number;
  rowHeight: number;
  /** Height of the view, px. */
  view: number;
  /** Space above the first and below the last row, px. */
  pad: number;
}

const realHeight = (e: Extent): number => e.rows * e.rowHeight + 2 * e.pad;
/** Height of the element that is scrolled. */
export const scrollHeight = (e: Extent): number => Math.min(realHeight(e), MAX_HEIGHT);
/** Farthest that the rows can be moved up. */
export const maxTop = (e: Extent): number => Math.max(0, realHeight(e) - e.view);
const maxScroll = (e: Extent): number => Math.max(0, scrollHeight(e) - e.view);

/** Where the rows stand after the element was scrolled. `top`, `scroll`: before. */
export function topAfterScroll(e: Extent, top: number, scroll: number, to: number): number {
  const most = maxTop(e);
  if (realHeight(e) <= MAX_HEIGHT) return Math.max(0, Math.min(most, to));
  if (to <= 0) return 0;
  if (to >= maxScroll(e) - 1) return most;
  const step = to - scroll;
  if (Math.abs(step) <= e.view * 1.5) return Math.max(0, Math.min(most, top + step));
  return most * (to / maxScroll(e));
}

/** The scroll position that goes with rows at `top`. */
export function scrollOf(e: Extent, top: number): number {
  if (realHeight(e) <= MAX_HEIGHT) return top;
  const most = maxTop(e);
  return most === 0 ? 0 : maxScroll(e) * (top / most);
}

/** First and one past the last index that is at least partly in view, and how far the first is above the view. */
export function visible(e: Extent, top: number): { from: number; to: number; offset: number } {
  const y = top - e.pad;
  const from = Math.max(0, Math.floor(y / e.rowHeight));
  const to = Math.min(e.rows, Math.ceil((y + e.view) / e.rowHeight));
  return { from, to: Math.max(from, to), offset: y - from * e.rowHeight };
}
