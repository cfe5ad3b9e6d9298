import type { Handle } from "./win32.ts";

/** Something that the kernel signals once it is over. */
export interface Waitable {
  /** A manual-reset event: it stays signalled until the next transfer. */
  readonly event: Handle;
  /** Whether it is over; asked after any event fired. */
  done(): boolean;
}

/** The calls that waiting needs; `device.ts` gives the real ones. */
export interface WaitCalls {
  /** A new auto-reset event, to wake a wait with. */
  createWake(): Handle;
  setEvent(event: Handle): void;
  /** Resolves when one of the handles is signalled; false when the system refused to wait. */
  waitAny(handles: BigUint64Array<ArrayBuffer>): Promise<boolean>;
}

/** `WaitForMultipleObjects` takes 64 handles (MAXIMUM_WAIT_OBJECTS); one of them wakes it for a change of the set. */
export const GROUP_SIZE = 63;

interface Group {
  readonly wake: Handle;
  readonly members: Map<Waitable, () => void>;
  running: boolean;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/**
 * Waits for transfers of all ports together: a waiting thread for each 63 of them, not one for each port, because
 * Deno has 32 threads for blocking calls and files need them too. With nothing to wait for no thread is used.
 */
export class Waiter {
  readonly #calls: WaitCalls;
  readonly #groups: Group[] = [];

  constructor(calls: WaitCalls) {
    this.#calls = calls;
  }

  /** How many threads wait now. */
  get threads(): number {
    return this.#groups.filter((group) => group.running).length;
  }

  /** Resolves when `item` is over. */
  wait(item: Waitable): Promise<void> {
    let group = this.#groups.find((candidate) => candidate.members.size < GROUP_SIZE);
    if (!group) {
      group = { wake: this.#calls.createWake(), members: new Map(), running: false };
      this.#groups.push(group);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    group.members.set(item, resolve);
    if (group.running) this.#calls.setEvent(group.wake);
    else this.#run(group);
    return promise;
  }

  async #run(group: Group): Promise<void> {
    group.running = true;
    while (group.members.size > 0) {
      const handles = new BigUint64Array(group.members.size + 1);
      handles[0] = group.wake;
      let at = 1;
      for (const item of group.members.keys()) handles[at++] = item.event;
      // Refused (a handle that something else closed): look at the members from time to time instead of spinning.
      if (!await this.#calls.waitAny(handles)) await pause(10);
      for (const [item, resolve] of group.members) {
        if (!item.done()) continue;
        group.members.delete(item);
        resolve();
      }
    }
    group.running = false;
  }
}
