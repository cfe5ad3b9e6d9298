import type { Io } from "./command.ts";
import type { Finding } from "./finding.ts";

/** Who this process is, as far as permissions go. */
export interface Me {
  readonly name: string;
  readonly uid: number;
  /** Group ids that the process has. */
  readonly groups: readonly number[];
}
/** Owner, group and mode bits of a device node. */
export interface Node {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}
/** A line of `/etc/group`. */
export interface Group {
  readonly name: string;
  readonly gid: number;
  readonly members: readonly string[];
}

const read = (path: string): string => {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
};
const names = (path: string): string[] => {
  try {
    return [...Deno.readDirSync(path)].map((e) => e.name);
  } catch {
    return [];
  }
};

export const parseGroups = (text: string): Group[] =>
  text.split("\n").flatMap((line) => {
    const [name, , gid, members] = line.split(":");
    return name && gid ? [{ name, gid: Number(gid), members: members ? members.split(",") : [] }] : [];
  });

/** What keeps `me` from opening a port, and the command that mends it; undefined if nothing does. */
export function accessFinding(path: string, node: Node, me: Me, groups: readonly Group[]): Finding | undefined {
  const bits = node.uid === me.uid ? node.mode >> 6 : me.groups.includes(node.gid) ? node.mode >> 3 : node.mode;
  if (me.uid === 0 || (bits & 6) === 6) return undefined;
  const group = groups.find((g) => g.gid === node.gid);
  const text = `${path}: you (${me.name}) may not open it`;
  if (!group || group.gid === 0 || ((node.mode >> 3) & 6) !== 6) {
    return { state: "bad", text, fix: `sudo setfacl -m u:${me.name}:rw ${path}` };
  }
  if (group.members.includes(me.name)) {
    return {
      state: "bad",
      text: `${text} yet: you are in group ${group.name}, but this session began before`,
      fix: `log out and in again, or in this shell: newgrp ${group.name}`,
    };
  }
  return {
    state: "bad",
    text: `${text}: it is for group ${group.name}`,
    fix: `sudo usermod -aG ${group.name} ${me.name}   (then log out and in again)`,
  };
}

/** Programs that open serial ports behind one's back, by the name of the process. */
export const MEDDLERS: Readonly<Record<string, Finding>> = {
  ModemManager: {
    state: "note",
    text: "ModemManager runs: it talks to each new serial port for some seconds after it is plugged in",
    fix: "sudo systemctl disable --now ModemManager",
  },
  brltty: {
    state: "note",
    text: "brltty runs: it takes CH340 and CP210x adapters, taking them for Braille displays",
    fix: "sudo systemctl mask --now brltty brltty-udev   (unless you use a Braille display)",
  },
};

/** USB vendors of serial chips, and the kernel module of each. */
const CHIPS: Readonly<Record<string, string>> = {
  "0403": "ftdi_sio",
  "10c4": "cp210x",
  "1a86": "ch341",
  "067b": "pl2303",
};

/** Findings that only Linux can give: permissions, meddling programs, missing kernel modules. */
export async function linuxFindings(ports: readonly string[], io: Io): Promise<Finding[]> {
  return [...await accessFindings(ports, io), ...meddlers(), ...missingModules()];
}

async function accessFindings(ports: readonly string[], io: Io): Promise<Finding[]> {
  const uid = Deno.uid() ?? 0;
  const status = read("/proc/self/status");
  const ids = /^Groups:\s*(.*)$/m.exec(status)?.[1]?.trim().split(/\s+/).map(Number) ?? [];
  const user = read("/etc/passwd").split("\n").map((l) => l.split(":")).find((f) => f[2] === String(uid))?.[0];
  const me = { name: user ?? io.env("USER") ?? String(uid), uid, groups: [...ids, Deno.gid() ?? -1] };
  const groups = parseGroups(read("/etc/group"));
  const findings: Finding[] = [];
  for (const path of ports) {
    const info = await Deno.stat(path).catch(() => undefined);
    if (!info || info.uid === null || info.gid === null || info.mode === null) continue;
    const finding = accessFinding(path, { uid: info.uid, gid: info.gid, mode: info.mode }, me, groups);
    if (finding) findings.push(finding);
  }
  const dialout = groups.find((g) => g.name === "dialout" || g.name === "uucp");
  if (dialout && uid !== 0 && !me.groups.includes(dialout.gid) && !findings.length) {
    findings.push({
      state: "note",
      text: `you are not in group ${dialout.name}, to which most systems give serial ports`,
      fix: `sudo usermod -aG ${dialout.name} ${me.name}   (then log out and in again)`,
    });
  }
  return findings;
}

function meddlers(): Finding[] {
  const running = new Set(names("/proc").filter((n) => /^\d+$/.test(n)).map((pid) => read(`/proc/${pid}/comm`).trim()));
  return Object.entries(MEDDLERS).flatMap(([name, finding]) => (running.has(name) ? [finding] : []));
}

/** Serial chips on the USB that no kernel module has taken. `root` is where sysfs is. */
export function missingModules(root = "/sys/bus/usb/devices"): Finding[] {
  const findings: Finding[] = [];
  for (const name of names(root).filter((n) => /^\d+-[\d.]+$/.test(n))) {
    const module = CHIPS[read(`${root}/${name}/idVendor`).trim()];
    if (module === undefined) continue;
    const interfaces = names(`${root}/${name}`).filter((n) => n.startsWith(`${name}:`));
    if (interfaces.some((i) => names(`${root}/${name}/${i}`).some((n) => n === "driver"))) continue;
    const product = read(`${root}/${name}/product`).trim();
    findings.push({
      state: "bad",
      text: `${product || "a serial chip"} on USB ${name} has no driver`,
      fix: `sudo modprobe ${module}   (in a container or WSL kernel it may be missing: use the full kernel)`,
    });
  }
  return findings;
}
