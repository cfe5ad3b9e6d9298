import type { SimDevice } from "../core/sim/mod.ts";

/** The device's end of a virtual port. */
export interface DeviceEnd {
  read(buffer: Uint8Array<ArrayBuffer>): Promise<number>;
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

/**
 * Lets a simulated device live on an end of a virtual port, until a read or write of it fails (which closing it
 * makes them do); resolves then.
 */
export async function runDevice(device: SimDevice, end: DeviceEnd): Promise<void> {
  let input: Uint8Array[] = [];
  let wake = () => {};
  let ended = false;
  const reading = (async () => {
    const buffer = new Uint8Array(16_384);
    try {
      for (;;) {
        const n = await end.read(buffer);
        input.push(buffer.slice(0, n));
        wake();
      }
    } catch {
      ended = true;
      wake();
    }
  })();
  try {
    while (!ended) {
      const received = input;
      input = [];
      const output = device.step(join(received), performance.now());
      if (output.length) await end.write(output);
      if (input.length || ended) continue;
      const waitMs = device.next(performance.now());
      let timer: ReturnType<typeof setTimeout> | undefined;
      await new Promise<void>((go) => {
        wake = go;
        if (waitMs !== undefined) timer = setTimeout(go, waitMs);
      });
      clearTimeout(timer);
    }
  } catch {
    // The port was closed: that is how a device ends.
  }
  await reading;
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const first = parts[0];
  if (first && parts.length === 1) return first;
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
