import { Ports } from "../bench/ports.ts";
import { systemDriver } from "../drivers/serial/mod.ts";
import { loadConfig } from "../store/config.ts";
import { type Command, configDirFlag, jsonFlag } from "./command.ts";
import { pathsOf } from "./folder.ts";
import { parsePortPaths, portPathFlag } from "./port_path.ts";

export const command: Command = {
  usage: "fieldbench ports",
  flags: { ...jsonFlag, ...configDirFlag, ...portPathFlag },
  notes: "Opens none of them. Configured extra ports are listed too.",
  async run(parsed, io) {
    const config = await loadConfig(pathsOf(parsed, io).config);
    const extra = [
      ...config.value.serial.extraPorts,
      ...parsePortPaths(parsed.strings("port-path"), parsed.origin("port-path")),
    ];
    const driver = systemDriver();
    const ports = new Ports({ driver, extra, log: (_level, text) => io.err(text) });
    try {
      const found = (await ports.list()).map((p) => ({ ...p, heldBy: driver.holder(p.path) }));
      if (parsed.boolean("json")) {
        io.out(JSON.stringify(found, null, 2));
        return 0;
      }
      for (const p of found) {
        const ids = p.vendorId && p.productId ? `  ${p.vendorId}:${p.productId}` : "";
        const serial = p.serialNumber ? `  serial ${p.serialNumber}` : "";
        io.out(`${p.path}  ${p.friendlyName}${ids}${serial}${p.heldBy ? `  in use by ${p.heldBy}` : ""}`);
      }
      if (!found.length) {
        io.err("no serial ports found. fieldbench doctor looks for the reason; fieldbench serve --demo needs none.");
      }
      return 0;
    } finally {
      await ports.close();
    }
  },
};
