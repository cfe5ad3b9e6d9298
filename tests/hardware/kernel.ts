/** A Debian kernel and a small initial RAM disk with the drivers of the two serial chips, in a cache folder. */

/** What a developer can mend; printed without a stack. */
export class Missing extends Error {
  override name = "Missing";
}

const MODULES = ["virtio_pci", "9pnet_virtio", "9p", "xhci_pci", "ftdi_sio"];

/** Only these parts of the package (400 MB unpacked) are needed. */
const WANTED = [
  "*/boot/vmlinuz*",
  "*/lib/modules/*/kernel/drivers/virtio/*",
  "*/lib/modules/*/kernel/drivers/usb/*",
  "*/lib/modules/*/kernel/drivers/char/virtio*",
  "*/lib/modules/*/kernel/net/9p/*",
  "*/lib/modules/*/kernel/fs/9p/*",
  "*/lib/modules/*/kernel/fs/netfs/*",
  "*/lib/modules/*/kernel/fs/fscache/*",
  "*/lib/modules/*/modules.*",
];

const PATH = `${Deno.env.get("PATH") ?? ""}:/usr/sbin:/sbin`;

/** Runs a program to its end; gives what it printed. Throws {@link Missing} with its words when it fails. */
const run = async (command: string[], options: { cwd?: string } = {}): Promise<string> => {
  const [program = "", ...args] = command;
  const { code, stdout, stderr } = await new Deno.Command(program, { args, env: { PATH, LC_ALL: "C" }, ...options })
    .output();
  const decoder = new TextDecoder();
  if (code !== 0) throw new Missing(`${program} failed: ${decoder.decode(stderr).trim()}`);
  return decoder.decode(stdout);
};

const shell = (script: string, ...args: string[]): Promise<string> => run(["sh", "-euc", script, "sh", ...args]);

/** Which Debian package has which program that is used here. */
const NEEDS: ReadonlyMap<string, string> = new Map([
  ["qemu-system-x86_64", "qemu-system-x86"],
  ["busybox", "busybox-static"],
  ["cpio", "cpio"],
  ["depmod", "kmod"],
  ["modprobe", "kmod"],
  ["apt-get", "apt"],
  ["dpkg-deb", "dpkg"],
]);

export const checkPrograms = async (): Promise<void> => {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") {
    throw new Missing("this task needs Linux on x86_64: the guest runs the host's own Deno");
  }
  const packages = new Set<string>();
  for (const [program, debian] of NEEDS) {
    const there = await run(["sh", "-c", 'command -v "$0"', program]).catch(() => undefined);
    if (there === undefined) packages.add(debian);
  }
  if (packages.size === 0) return;
  const list = Array.from(packages).join(" ");
  throw new Missing(`not installed: ${list}\ninstall with: apt-get install --no-install-recommends ${list}`);
};

const entries = (folder: string): string[] => {
  try {
    return Array.from(Deno.readDirSync(folder), (entry) => entry.name);
  } catch {
    return [];
  }
};

/** The file of the newest kernel package that apt knows, downloaded once. */
const kernelPackage = async (cache: string): Promise<string> => {
  const depends = await run(["apt-cache", "depends", "linux-image-amd64"]).catch(() => "");
  const name = depends.match(/linux-image-\d\S*/)?.[0];
  const present = entries(cache).find((file) => file.startsWith(name ? `${name}_` : "linux-image-"));
  if (present) return `${cache}/${present}`;
  if (!name) throw new Missing("apt knows no package linux-image-amd64; run: apt-get update");
  console.log(`downloading ${name}`);
  await run(["apt-get", "download", name], { cwd: cache });
  const file = entries(cache).find((entry) => entry.startsWith(`${name}_`));
  if (!file) throw new Missing(`apt-get download ${name} left no file`);
  return `${cache}/${file}`;
};

const unpack = async (archive: string, into: string): Promise<void> => {
  const done = `${into}/.unpacked`;
  const before = await Deno.readTextFile(done).catch(() => "");
  if (before === archive) return;
  await Deno.remove(into, { recursive: true }).catch(() => {});
  await Deno.mkdir(into, { recursive: true });
  await shell(
    'archive=$1; into=$2; shift 2; dpkg-deb --fsys-tarfile "$archive" | tar -x -C "$into" --wildcards "$@" || true',
    archive,
    into,
    ...WANTED,
  );
  // Newer packages keep the modules below usr/, where depmod -b does not look.
  if (!entries(into).includes("lib") && entries(into).includes("usr")) await Deno.symlink("usr/lib", `${into}/lib`);
  await Deno.writeTextFile(done, archive);
};

/** The modules and what they need, in the order to load them. */
const modulesToLoad = async (tree: string, version: string): Promise<string[]> => {
  await run(["depmod", "-b", tree, version]);
  const files = new Set<string>();
  for (const module of MODULES) {
    const shown = await run(["modprobe", "-d", tree, "-S", version, "--show-depends", module]);
    for (const [, file] of shown.matchAll(/^insmod (\S+)/gm)) if (file) files.add(file);
  }
  return Array.from(files);
};

const buildInitrd = async (cache: string, modules: readonly string[]): Promise<string> => {
  const root = `${cache}/initrd`;
  await Deno.remove(root, { recursive: true }).catch(() => {});
  for (const folder of ["bin", "modules", "proc", "sys", "dev"]) {
    await Deno.mkdir(`${root}/${folder}`, { recursive: true });
  }
  await shell('cp "$(command -v busybox)" "$1/bin/busybox"', root);
  await Deno.copyFile(new URL("init.sh", import.meta.url), `${root}/init`);
  await Deno.chmod(`${root}/init`, 0o755);
  const names: string[] = [];
  for (const file of modules) {
    const name = file.slice(file.lastIndexOf("/") + 1).replace(/\.xz$/, "");
    if (file.endsWith(".xz")) await shell('xz -dc "$1" > "$2"', file, `${root}/modules/${name}`);
    else await Deno.copyFile(file, `${root}/modules/${name}`);
    names.push(name);
  }
  await Deno.writeTextFile(`${root}/modules.order`, names.join("\n") + "\n");
  const image = `${cache}/initrd.gz`;
  await shell('cd "$1"; find . | cpio -o -H newc --quiet | gzip -1 > "$2"', root, image);
  return image;
};

export interface Kernel {
  kernel: string;
  initrd: string;
}

/** Downloads what is missing and builds the rest below `cache`. Throws {@link Missing}. */
export const prepareKernel = async (cache: string): Promise<Kernel> => {
  await Deno.mkdir(cache, { recursive: true });
  const tree = `${cache}/kernel`;
  await unpack(await kernelPackage(cache), tree);
  const image = entries(`${tree}/boot`).find((name) => name.startsWith("vmlinuz-"));
  if (!image) throw new Missing(`the kernel package holds no kernel; remove ${cache} and try again`);
  const modules = await modulesToLoad(tree, image.slice("vmlinuz-".length));
  return { kernel: `${tree}/boot/${image}`, initrd: await buildInitrd(cache, modules) };
};
