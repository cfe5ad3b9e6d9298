/**
 * Who holds a tty: a lock in `/proc/locks`, or an open descriptor in `/proc/<pid>/fd`. Of other users' processes only
 * root sees the descriptors; the locks are seen by all.
 */

const list = (folder: string): string[] => {
  try {
    return Array.from(Deno.readDirSync(folder), (entry) => entry.name);
  } catch {
    return [];
  }
};

const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

const describe = (pid: number): string => {
  const name = attempt(() => Deno.readTextFileSync(`/proc/${pid}/comm`).trim());
  return name ? `${name} (pid ${pid})` : `pid ${pid}`;
};

/** `major:minor:inode` as /proc/locks writes it: hexadecimal device numbers, decimal inode. */
const lockKey = (path: string): string | undefined => {
  const stat = attempt(() => Deno.statSync(path));
  if (!stat || stat.ino === null) return undefined;
  const hex = (value: number) => value.toString(16).padStart(2, "0");
  // The encoding of dev_t in glibc and in the kernel's new_encode_dev, for minors below 2^20.
  const major = Math.floor(stat.dev / 256) & 0xfff;
  const minor = (stat.dev & 0xff) | (Math.floor(stat.dev / 4096) & 0xfff00);
  return `${hex(major)}:${hex(minor)}:${stat.ino}`;
};

/** The process that took a flock on the file; cheap. It may have ended and left the lock to a child. */
const lockOwner = (path: string): number | undefined => {
  const key = lockKey(path);
  const locks = key && attempt(() => Deno.readTextFileSync("/proc/locks"));
  if (!key || !locks) return undefined;
  for (const row of locks.split("\n")) {
    const [, kind, , , pid, file] = row.trim().split(/\s+/);
    if (kind === "FLOCK" && file === key) return Number(pid);
  }
  return undefined;
};

/** Real path of a tty → the first process that has it open. */
type OpenFiles = Map<string, number>;

const isTty = (target: string) => target.startsWith("/dev/tty") || target.startsWith("/dev/pts/");

const scanProcess = (pid: number, into: OpenFiles): void => {
  const targets = new Set<string>();
  let provider = false;
  for (const fd of list(`/proc/${pid}/fd`)) {
    const target = attempt(() => Deno.readLinkSync(`/proc/${pid}/fd/${fd}`));
    if (target === undefined) continue;
    if (target === "/dev/ptmx" || target === "/dev/pts/ptmx") provider = true;
    else if (isTty(target)) targets.add(target);
  }
  for (const target of targets) {
    // Who made a PTY keeps its slave open so that it outlives its users: that is the cable, not a user of the port.
    if (provider && target.startsWith("/dev/pts/")) continue;
    if (!into.has(target)) into.set(target, pid);
  }
};

const SCAN_TTL_MS = 1000;
let scan: { at: number; files: OpenFiles } | undefined;

/** A scan reads thousands of links, so that one serves all ports of a listing. */
const openFiles = (fresh: boolean): OpenFiles => {
  const now = performance.now();
  if (!fresh && scan && now - scan.at < SCAN_TTL_MS) return scan.files;
  const files: OpenFiles = new Map();
  for (const name of list("/proc")) {
    const pid = Number(name);
    // Of this process only locks count: what it has open without one is not a port of a pane.
    if (Number.isInteger(pid) && pid !== Deno.pid) scanProcess(pid, files);
  }
  scan = { at: now, files };
  return files;
};

/** As {@link SerialDriver.holder}. `fresh` reads /proc again instead of a scan that is at most a second old. */
export const linuxHolder = (path: string, options: { fresh?: boolean } = {}): string | undefined => {
  const owner = lockOwner(path);
  if (owner !== undefined && attempt(() => Deno.statSync(`/proc/${owner}`))) return describe(owner);
  const opener = openerOf(path, options.fresh ?? false);
  return opener ?? (owner === undefined ? undefined : UNKNOWN_HOLDER);
};

/** As {@link linuxHolder}, but only of a port that is locked: that is what makes an open fail. */
export const linuxLockHolder = (path: string): string | undefined =>
  lockOwner(path) === undefined ? undefined : linuxHolder(path, { fresh: true });

/** Locked by a process that has ended, and whoever keeps the lock is another user's, which only root may see. */
const UNKNOWN_HOLDER = "another program";

const openerOf = (path: string, fresh: boolean): string | undefined => {
  const real = attempt(() => Deno.realPathSync(path));
  const pid = real === undefined ? undefined : openFiles(fresh).get(real);
  if (real === undefined || pid === undefined) return undefined;
  // The scan may be older than the end of that process, and PTY names are used again.
  const now: OpenFiles = new Map();
  scanProcess(pid, now);
  return now.has(real) ? describe(pid) : undefined;
};
