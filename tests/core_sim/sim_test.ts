import assert from "node:assert/strict";
import { atModem } from "../../src/core/sim/at_modem.ts";
import { echoDevice } from "../../src/core/sim/echo.ts";
import { floodDevice } from "../../src/core/sim/flood.ts";
import { nmeaDevice } from "../../src/core/sim/nmea.ts";
import type { SimDevice } from "../../src/core/sim/mod.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const NONE = new Uint8Array(0);
const talk = (device: SimDevice, text: string, now: number) => String.fromCharCode(...device.step(bytes(text), now));

Deno.test("the modem greets, answers the usual commands and refuses others", () => {
  const modem = atModem();
  assert.equal(modem.next(0), 0);
  assert.equal(talk(modem, "", 0), "\r\nFieldbench simulated modem\r\n\r\nREADY\r\n");
  assert.equal(talk(modem, "AT\r", 1), "AT\r\r\nOK\r\n");
  assert.equal(talk(modem, "ATE0\r\n", 2), "ATE0\r\r\nOK\r\n");
  assert.equal(talk(modem, "at\r\nAT\nAT\r", 3), "\r\nOK\r\n".repeat(3));
  assert.match(talk(modem, "AT+CSQ\r", 4), /^\r\n\+CSQ: \d\d,99\r\n\r\nOK\r\n$/);
  assert.equal(talk(modem, "AT+CREG?\r", 5), "\r\n+CREG: 0,1\r\n\r\nOK\r\n");
  assert.match(talk(modem, "AT+COPS?\r", 6), /^\r\n\+COPS: 0,0,"[^"]+",7\r\n\r\nOK\r\n$/);
  assert.match(talk(modem, "ATI\r", 7), /Revision.*\r\n\r\nOK\r\n$/s);
  assert.equal(talk(modem, "AT+NOPE\r", 8), "\r\nERROR\r\n");
  assert.equal(talk(modem, "hello\r", 9), "\r\nERROR\r\n");
  assert.equal(talk(modem, "\r\n\r\n", 10), "");
  assert.equal(talk(modem, "x".repeat(100_000) + "\r", 11), "\r\nERROR\r\n");
  assert.equal(talk(modem, "AX\bT\r", 12), "\r\nOK\r\n");
  assert.equal(talk(modem, "ATE1\r", 13), "\r\nOK\r\n");
  assert.deepEqual([...modem.step(new Uint8Array([0xff, 0x80]), 14)], [0xff, 0x80]);
});

Deno.test("the modem speaks by itself from time to time, but never into a command", () => {
  const modem = atModem();
  talk(modem, "ATE0\r", 0);
  assert.equal(modem.next(5000), 15_000);
  assert.equal(talk(modem, "", 19_999), "");
  assert.equal(talk(modem, "AT", 20_000), "");
  assert.equal(talk(modem, "", 25_000), "");
  assert.match(talk(modem, "\r", 26_000), /^\r\nOK\r\n\r\n\+CSQN: \d\d,99\r\n$/);
  assert.equal(modem.next(26_000), 20_000);
});

Deno.test("the modem has a login whose prompts end without a line break and whose password is not echoed", () => {
  const modem = atModem();
  talk(modem, "", 0);
  assert.ok(talk(modem, "AT+LOGIN\r", 1).endsWith("\r\nlogin: "));
  assert.equal(talk(modem, "ada\r", 2), "ada\r\r\nPassword: ");
  assert.match(talk(modem, "secret\r", 3), /^\r\nWelcome, ada\. .*ada@modem:~\$ $/s);
  assert.match(talk(modem, "uptime\r", 5000), /up 5 s\r\nada@modem:~\$ $/);
  assert.match(talk(modem, "exit\r", 5001), /logout\r\n\r\nOK\r\n$/);
  assert.equal(talk(modem, "AT\r", 5002), "AT\r\r\nOK\r\n");
});

Deno.test("NMEA sentences have right checksums, come once a second and move along a track", () => {
  const gps = nmeaDevice(Date.UTC(2026, 0, 2, 23, 59, 59));
  const places = new Set<string>();
  for (let s = 0; s < 120; s++) {
    const text = talk(gps, "", s * 1000);
    const sentences = text.split("\r\n").slice(0, -1);
    assert.deepEqual(sentences.map((l) => l.slice(0, 6)), ["$GPGGA", "$GPRMC", "$GPGSV", "$GPGSV"]);
    for (const one of sentences) {
      const [, body, sum] = /^\$([^*]+)\*([0-9A-F]{2})$/.exec(one) ?? [];
      assert.equal([...bytes(body ?? "")].reduce((a, b) => a ^ b, 0), parseInt(sum ?? "", 16), one);
      assert.ok(one.length <= 80, one);
    }
    const fields = sentences[1]?.split(",") ?? [];
    assert.match(fields[3] ?? "", /^\d{4}\.\d{4}$/);
    assert.match(fields[5] ?? "", /^\d{5}\.\d{4}$/);
    if (s === 1) assert.deepEqual([fields[1], fields[9]], ["000000.00", "030126"]);
    places.add(`${fields[3]} ${fields[5]}`);
    assert.equal(talk(gps, "ignored", s * 1000 + 999), "");
    assert.equal(gps.next(s * 1000 + 250), 750);
  }
  assert.equal(places.size, 120);
});

Deno.test("the echo gives back every byte", () => {
  const all = Uint8Array.from({ length: 256 }, (_, i) => i);
  assert.deepEqual(echoDevice().step(all, 0), all);
  assert.equal(echoDevice().next(0), undefined);
});

Deno.test("the flood keeps its rate, numbers its lines without a gap, and does not burst after a pause", () => {
  const flood = floodDevice(500);
  let text = "";
  let lines = 0;
  for (let now = 0; now <= 10_000; now += 7) text += String.fromCharCode(...flood.step(NONE, now));
  lines = text.split("\r\n").length - 1;
  assert.ok(Math.abs(lines - 5000) <= 5, String(lines));
  text += String.fromCharCode(...flood.step(NONE, 100_000));
  assert.ok(text.split("\r\n").length - 1 <= lines + 1000);
  text += String.fromCharCode(...flood.step(NONE, 100_100));
  text.split("\r\n").slice(0, -1).forEach((l, i) => assert.equal(Number(l.slice(0, 9)), i));
  assert.equal(text.split("\r\n").length - 1, lines + 1000 + 50);
});
