/** Commands that open an address in the default browser, the likeliest first. */
export function browserCommands(os: typeof Deno.build.os, isWsl: boolean, url: string): [string, ...string[]][] {
  // In quotes of the shell's own, so that an & in the address is no second command.
  const start: [string, ...string[]] = [
    "powershell.exe",
    "-NoProfile",
    "-NonInteractive",
    "-Command",
    `Start-Process '${url.replaceAll("'", "''")}'`,
  ];
  if (os === "darwin") return [["open", url]];
  if (os === "windows") return [["rundll32", "url.dll,FileProtocolHandler", url], start];
  const linux: [string, ...string[]][] = [["xdg-open", url], ["gio", "open", url], ["sensible-browser", url]];
  return isWsl ? [start, ["wslview", url], ...linux] : linux;
}

/** Whether this Linux runs inside Windows. */
export function isWsl(env: (name: string) => string | undefined): boolean {
  if (env("WSL_DISTRO_NAME")) return true;
  try {
    return /microsoft/i.test(Deno.readTextFileSync("/proc/sys/kernel/osrelease"));
  } catch {
    return false;
  }
}

/** Opens the page; false if no command for it worked. Waits at most two seconds for one to fail. */
export async function openBrowser(url: string, env: (name: string) => string | undefined): Promise<boolean> {
  for (const [command, ...args] of browserCommands(Deno.build.os, isWsl(env), url)) {
    try {
      const child = new Deno.Command(command, { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
      child.unref();
      const timer = Promise.withResolvers<"running">();
      const id = setTimeout(() => timer.resolve("running"), 2000);
      const ended = await Promise.race([child.status, timer.promise]);
      clearTimeout(id);
      if (ended === "running" || ended.success) return true;
    } catch { /* not installed: try the next */ }
  }
  return false;
}
