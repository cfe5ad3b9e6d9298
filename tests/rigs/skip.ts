/** For the name of a test that this machine cannot run: says why it is skipped, and nothing where it runs. */
export const skipped = (ignored: boolean, why: string): string => ignored ? ` (skipped: ${why})` : "";
