import { encode, type SimDevice } from "./device.ts";

const CR = 0x0d;
const LF = 0x0a;
const BACKSPACE = 0x08;
const DELETE = 0x7f;
const MAX_COMMAND = 256;
/** How often it says something by itself. */
const NEWS_MS = 20_000;

type Mode = "command" | "user" | "password" | "shell";

/**
 * A modem with the usual AT commands (ITU-T V.250, 3GPP TS 27.007) and, for practice with prompts that end without a
 * line break, a login (`AT+LOGIN`). It says something by itself every 20 seconds, never in the middle of a command.
 */
export function atModem(): SimDevice {
  let started: number | undefined;
  let echo = true;
  let mode: Mode = "command";
  let line = "";
  let afterCr = false;
  let user = "";
  let now = 0;
  let newsAt = Infinity;
  let newsCount = 0;

  const result = (...lines: string[]): string => lines.map((l) => `\r\n${l}\r\n`).join("");
  const banner = (): string => result("Fieldbench simulated modem", "READY");
  const signal = (): number => 15 + Math.floor(now / 7000) % 9;

  const fixed: Readonly<Record<string, string>> = {
    "": result("OK"),
    I: result("Fieldbench", "AT-MODEM", "Revision: 1.0", "OK"),
    "+CGMI": result("Fieldbench", "OK"),
    "+CGMM": result("AT-MODEM", "OK"),
    "+CGMR": result("Revision: 1.0", "OK"),
    "+CPIN?": result("+CPIN: READY", "OK"),
    "+CREG?": result("+CREG: 0,1", "OK"),
    "+COPS?": result('+COPS: 0,0,"Fieldbench Mobile",7', "OK"),
    "+CLAC": result("ATE0, ATE1, ATI, ATZ", "AT+CSQ, AT+CREG?, AT+COPS?, AT+CPIN?, AT+CGMI, AT+LOGIN", "OK"),
  };

  function command(text: string): string {
    const typed = text.trim();
    if (typed === "") return "";
    if (!/^at/i.test(typed)) return result("ERROR");
    const body = typed.slice(2).toUpperCase();
    if (Object.hasOwn(fixed, body)) return fixed[body] ?? "";
    switch (body) {
      case "E0":
      case "E1":
      case "E":
        echo = body === "E1";
        return result("OK");
      case "Z":
        echo = true;
        return result("OK") + banner();
      case "+CSQ":
        return result(`+CSQ: ${signal()},99`, "OK");
      case "+LOGIN":
        mode = "user";
        return "\r\nlogin: ";
      default:
        return result("ERROR");
    }
  }

  function answer(text: string): string {
    if (mode === "command") return command(text);
    if (mode === "user") {
      user = text.trim() || "guest";
      mode = "password";
      return "\r\nPassword: ";
    }
    if (mode === "password") {
      mode = "shell";
      return `\r\nWelcome, ${user}. Try: help\r\n${user}@modem:~$ `;
    }
    const word = text.trim();
    if (word === "exit") {
      mode = "command";
      return "\r\nlogout\r\n" + result("OK");
    }
    const said = word === ""
      ? ""
      : word === "help"
      ? "help  uptime  exit\r\n"
      : word === "uptime"
      ? `up ${Math.floor((now - (started ?? now)) / 1000)} s\r\n`
      : `${word}: not found\r\n`;
    return `\r\n${said}${user}@modem:~$ `;
  }

  /** One byte received; gives what it makes the modem send, as characters of one byte each. */
  function receive(byte: number): string {
    if (byte === LF && afterCr) {
      afterCr = false;
      return "";
    }
    afterCr = byte === CR;
    const echoing = echo && mode !== "password";
    if (byte === CR || byte === LF) {
      const text = line;
      line = "";
      const tooLong = text.length > MAX_COMMAND;
      return (echoing ? "\r" : "") + (tooLong ? result("ERROR") : answer(text));
    }
    if (byte === BACKSPACE || byte === DELETE) {
      const had = line.length > 0;
      line = line.slice(0, -1);
      return echoing && had ? "\b \b" : "";
    }
    if (line.length <= MAX_COMMAND) line += String.fromCharCode(byte);
    return echoing ? String.fromCharCode(byte) : "";
  }

  return {
    step(input, time) {
      now = time;
      let out = "";
      if (started === undefined) {
        started = time;
        newsAt = time + NEWS_MS;
        out += banner();
      }
      for (const byte of input) out += receive(byte);
      if (time >= newsAt && line === "" && mode === "command") {
        newsAt = time + NEWS_MS;
        out += result(++newsCount % 3 === 0 ? "+CREG: 1" : `+CSQN: ${signal()},99`);
      }
      // Characters stand for bytes here, so that an echo gives back exactly what came.
      return out === "" ? encode("") : Uint8Array.from(out, (c) => c.charCodeAt(0));
    },
    next(time) {
      if (started === undefined) return 0;
      return Math.max(line === "" && mode === "command" ? 0 : 1000, newsAt - time);
    },
  };
}
