import { encode, NOTHING, type SimDevice } from "./device.ts";

const TAIL = " the quick brown fox jumps over the lazy dog\r\n";
/** One step gives at most so many lines, so that a receiver that was away is not met with all it missed at once. */
const MOST_LINES = 1000;

/** Numbered lines, `rate` of them a second (1 to 1,000,000); what is sent to it is ignored. */
export function floodDevice(rate: number): SimDevice {
  let number = 0;
  /** When line `base` was due; lines after it follow at the rate. */
  let since: number | undefined;
  let base = 0;
  const due = (now: number) => Math.floor((now - (since ?? now)) * rate / 1000) + base;
  return {
    step(_input, now) {
      since ??= now;
      const wanted = due(now) - number;
      if (wanted <= 0) return NOTHING;
      const lines = Math.min(wanted, MOST_LINES);
      let text = "";
      for (let i = 0; i < lines; i++) text += `${String(number++).padStart(9, "0")}${TAIL}`;
      if (wanted > MOST_LINES) [since, base] = [now, number]; // it cannot be caught up with: go on from here
      return encode(text);
    },
    // At least 5 ms: many small writes cost more than one.
    next: (now) => (since === undefined ? 0 : Math.max(5, since + (number + 1 - base) * 1000 / rate - now)),
  };
}
