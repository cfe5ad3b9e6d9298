/** Waits until something is so; fails after a time that no working program needs. */
export async function until(condition: () => boolean | Promise<boolean>, ms = 20_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not so within ${ms} ms: ${condition}`);
    await new Promise((r) => setTimeout(r, 5));
  }
}
