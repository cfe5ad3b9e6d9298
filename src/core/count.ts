/** A number with its noun: `1 line`, `3 lines`. */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;
