import { Ports } from "../bench/ports.ts";
import { systemDriver } from "../drivers/serial/mod.ts";
import { type Config, defaultConfig, loadConfig } from "../store/config.ts";
import { answers, type Endpoint, readEndpoint } from "../store/endpoint.ts";
import { SettingsError } from "../store/json_file.ts";
import { loadMcpConfig } from "../store/mcp_config.ts";
import type { Paths } from "../store/paths.ts";
import { CliError } from "./args.ts";
import { type Command, configDirFlag, type Io, jsonFlag } from "./command.ts";
import { linuxFindings } from "./doctor_linux.ts";
import type { Finding } from "./finding.ts";
import { pathsOf, prepareFolder } from "./folder.ts";
import { isWsl } from "./open_browser.ts";
import { parsePortPaths, portPathFlag } from "./port_path.ts";

export const command: Command = {
  usage: "fieldbench doctor",
  flags: { ...jsonFlag, ...configDirFlag, ...portPathFlag },
  notes: "Changes nothing. Exit status: 0 nothing is wrong, 1 something is.",
  async run(parsed, io) {
    const extra = parsePortPaths(parsed.strings("port-path"), parsed.origin("port-path"));
    const paths = pathsOf(parsed, io);
    const { findings, config } = await settingsFindings(paths);
    const endpoint = await readEndpoint(paths.endpoint);
    const running = endpoint && await answers(endpoint) ? endpoint : undefined;
    findings.push(...serverFindings(paths, endpoint, running));
    findings.push(
      ...await portFindings(
        { ...config, serial: { extraPorts: [...config.serial.extraPorts, ...extra] } },
        io,
        running?.pid,
      ),
    );
    const bad = findings.some((f) => f.state === "bad");
    if (parsed.boolean("json")) {
      io.out(JSON.stringify({ ok: !bad, findings }, null, 2));
      return bad ? 1 : 0;
    }
    const mark = { ok: "ok  ", note: "note", bad: "BAD " };
    for (const f of findings) io.out(`${mark[f.state]}  ${f.text}${f.fix ? `\n      → ${f.fix}` : ""}`);
    return bad ? 1 : 0;
  },
};

async function settingsFindings(paths: Paths): Promise<{ findings: Finding[]; config: Config }> {
  const findings: Finding[] = [];
  let config = defaultConfig();
  const exists = await Deno.stat(paths.configDir).then(() => true, () => false);
  try {
    // A doctor makes no folder: of one that is not there yet, its parent decides, and serve will tell.
    if (exists) await prepareFolder(paths.configDir);
    findings.push({ state: "ok", text: `settings in ${paths.configDir}${exists ? "" : " (made at the first start)"}` });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    findings.push({ state: "bad", text: error.message, fix: `ls -ld '${paths.configDir}'` });
  }
  try {
    config = (await loadConfig(paths.config)).value;
    if (await Deno.stat(paths.mcpConfig).then(() => true, () => false)) await loadMcpConfig(paths.mcpConfig);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const fix = error.broken && error.keptAs
      ? `mend ${error.path}, or remove it; a copy is ${error.keptAs}`
      : `look at ${error.path}`;
    findings.push({ state: "bad", text: error.message, fix });
  }
  return { findings, config };
}

function serverFindings(paths: Paths, endpoint: Endpoint | undefined, running: Endpoint | undefined): Finding[] {
  if (running) {
    return [{ state: "ok", text: `a server runs at ${new URL(running.urlStreamable).origin} (pid ${running.pid})` }];
  }
  const findings: Finding[] = [];
  if (endpoint) {
    findings.push({
      state: "note",
      text: `${paths.endpoint} is left from a server that has ended without a goodbye; the next start replaces it`,
    });
  }
  try {
    Deno.listen({ hostname: "127.0.0.1", port: 7777 }).close();
    findings.push({ state: "ok", text: "port 7777 is free" });
  } catch {
    findings.push({
      state: "note",
      text: "port 7777 is used by another program; serve takes the next free one",
      fix: Deno.build.os === "windows"
        ? "see which: netstat -ano | findstr :7777"
        : Deno.build.os === "darwin"
        ? "see which: lsof -nP -iTCP:7777 -sTCP:LISTEN"
        : "see which: ss -ltnp 'sport = :7777'",
    });
  }
  return findings;
}

async function portFindings(config: Config, io: Io, ownPid: number | undefined): Promise<Finding[]> {
  const findings: Finding[] = [];
  const driver = systemDriver();
  const ports = new Ports({ driver, extra: config.serial.extraPorts, log: () => {} });
  try {
    const found = await ports.list();
    for (const port of found) {
      const holder = driver.holder(port.path);
      const text = `${port.path}: ${port.friendlyName}`;
      const ours = ownPid !== undefined && holder?.includes(`pid ${ownPid}`);
      if (ours) findings.push({ state: "ok", text: `${text}, open in the running server` });
      else if (holder === undefined) findings.push({ state: "ok", text });
      else findings.push({ state: "note", text: `${text}, in use by ${holder}`, fix: fixForHolder(holder) });
    }
    if (Deno.build.os === "linux") findings.push(...await linuxFindings(found.map((p) => p.path), io));
    if (!found.length) findings.push(noPorts(io));
  } finally {
    await ports.close();
  }
  return findings;
}

function fixForHolder(holder: string): string {
  const pid = /pid (\d+)/.exec(holder)?.[1];
  if (pid === undefined) return "close the program that has it open";
  return Deno.build.os === "windows" ? `close it, or: taskkill /pid ${pid}` : `close it, or: kill ${pid}`;
}

function noPorts(io: Io): Finding {
  const text = "no serial ports found";
  if (Deno.build.os === "linux" && isWsl(io.env)) {
    return { state: "note", text, fix: "in Windows: usbipd list, then usbipd attach --wsl --busid BUSID" };
  }
  const demo = "plug an adapter in (a charging cable has no data lines), or begin without: fieldbench serve --demo";
  if (Deno.build.os === "windows") {
    return { state: "note", text, fix: `look into the Device Manager under Ports; ${demo}` };
  }
  return { state: "note", text, fix: demo };
}
