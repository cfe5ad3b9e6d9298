import { POLLIN } from "./abi.ts";
import { IntCell, libc } from "./libc.ts";

/** What a wait gives when it was ended by {@link Reactor.release} and not by the descriptor. */
export const RELEASED = -1;

interface Waiter {
  readonly fd: number;
  readonly events: number;
  readonly done: (revents: number) => void;
}

const POLLFD_BYTES = 8;

/**
 * Waits for all descriptors with one poll(2) on one thread of the runtime's blocking pool. The pool has 32 threads for
 * the whole process, so a blocked thread a port would starve file and DNS work. While nothing waits, no thread is held.
 */
class Reactor {
  readonly #waiters = new Set<Waiter>();
  /** Held here, because poll(2) writes into it from another thread. */
  #pollfds = new Uint8Array(POLLFD_BYTES * 16);
  #wakeRead = -1;
  #wakeWrite = -1;
  readonly #byte = new Uint8Array(1);
  #woken = false;
  /** Settles when the poll(2) under way has returned; undefined while none is. */
  #turn: Promise<unknown> | undefined;
  #running = false;

  /** Resolves with poll's `revents`, or {@link RELEASED}. */
  wait(fd: number, events: number): Promise<number> {
    return new Promise((done) => {
      this.#waiters.add({ fd, events, done });
      if (this.#running) this.#wake();
      else void this.#run();
    });
  }

  /** Ends the waits of `fd` for these events. The poll(2) under way may still look at it, which does no harm. */
  endWaits(fd: number, events: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.fd !== fd || waiter.events !== events) continue;
      this.#waiters.delete(waiter);
      waiter.done(RELEASED);
    }
    this.#wake();
  }

  /**
   * Ends every wait for `fd`. When it resolves, the poll thread no longer refers to the descriptor either: only then
   * does close(2) really release the device.
   */
  async release(fd: number): Promise<void> {
    for (const waiter of this.#waiters) {
      if (waiter.fd !== fd) continue;
      this.#waiters.delete(waiter);
      waiter.done(RELEASED);
    }
    this.#wake();
    await this.#turn;
  }

  #wake(): void {
    if (this.#turn === undefined || this.#woken) return;
    this.#woken = true;
    libc.write(this.#wakeWrite, this.#byte, 1);
  }

  async #run(): Promise<void> {
    this.#running = true;
    this.#openWakePipe();
    while (this.#waiters.size > 0) {
      const polled = [...this.#waiters];
      const view = this.#fill(polled);
      this.#turn = libc.pollAsync(this.#pollfds, polled.length + 1, -1);
      const ready = await this.#turn;
      this.#turn = undefined;
      // Below 0 is EINTR: nothing was filled in.
      if (typeof ready === "number" && ready > 0) this.#dispatch(polled, view);
    }
    this.#running = false;
  }

  #fill(polled: readonly Waiter[]): DataView {
    const bytes = POLLFD_BYTES * (polled.length + 1);
    if (this.#pollfds.length < bytes) this.#pollfds = new Uint8Array(2 * bytes);
    const view = new DataView(this.#pollfds.buffer);
    let at = 0;
    const put = (fd: number, events: number) => {
      view.setInt32(at, fd, true);
      view.setInt32(at + 4, events, true); // clears revents, its upper half
      at += POLLFD_BYTES;
    };
    put(this.#wakeRead, POLLIN);
    for (const waiter of polled) put(waiter.fd, waiter.events);
    return view;
  }

  #dispatch(polled: readonly Waiter[], view: DataView): void {
    if (view.getInt16(6, true) !== 0) {
      libc.read(this.#wakeRead, this.#byte, 1);
      this.#woken = false;
    }
    let at = POLLFD_BYTES;
    for (const waiter of polled) {
      const revents = view.getInt16(at + 6, true);
      at += POLLFD_BYTES;
      // A waiter that was released meanwhile is no longer in the set; its number may already mean another file.
      if (revents !== 0 && this.#waiters.delete(waiter)) waiter.done(revents);
    }
  }

  #openWakePipe(): void {
    if (this.#wakeRead >= 0) return;
    const ends = new Uint8Array(8);
    if (libc.pipe(ends) < 0) throw new Error(`pipe failed, errno ${libc.errno()}`);
    const view = new DataView(ends.buffer);
    this.#wakeRead = view.getInt32(0, true);
    this.#wakeWrite = view.getInt32(4, true);
    // A pipe and not an eventfd: macOS has none. FIOCLEX and not fcntl: its argument is variadic.
    libc.ioctlPlain(this.#wakeRead, libc.abi.FIOCLEX);
    libc.ioctlPlain(this.#wakeWrite, libc.abi.FIOCLEX);
  }
}

/** The one of this process. */
export const reactor = new Reactor();

/** The value of an ioctl that fills in an int; undefined when the driver does not know it. */
export const ioctlInt = (fd: number, request: number): number | undefined => {
  const cell = new IntCell();
  return libc.ioctl(fd, request, cell.bytes) < 0 ? undefined : cell.value;
};
