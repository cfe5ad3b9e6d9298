import { encode, NOTHING, type SimDevice } from "./device.ts";

/** `$body*hh\r\n`; hh is the exclusive or of the characters between `$` and `*` (NMEA 0183, 5.3). */
export function sentence(body: string): string {
  let sum = 0;
  for (let i = 0; i < body.length; i++) sum ^= body.charCodeAt(i);
  return `$${body}*${sum.toString(16).toUpperCase().padStart(2, "0")}\r\n`;
}

const two = (n: number): string => String(n).padStart(2, "0");

/** Degrees as NMEA has them: `ddmm.mmmm` with the letter of the half. */
function angle(degrees: number, digits: number, letters: string): string {
  const size = Math.round(Math.abs(degrees) * 600_000); // in ten-thousandths of a minute, so that 60 never appears
  const whole = Math.floor(size / 600_000);
  const minutes = ((size % 600_000) / 10_000).toFixed(4).padStart(7, "0");
  return `${String(whole).padStart(digits, "0")}${minutes},${letters[degrees < 0 ? 1 : 0]}`;
}

const CENTRE = { latitude: 52.5163, longitude: 13.3777 };
const RADIUS_DEGREES = 0.01;
const LAP_SECS = 600;
const SATELLITES = [[2, 61, 120, 42], [5, 33, 61, 37], [12, 12, 214, 29], [15, 71, 301, 45], [21, 24, 156, 33], [
  25,
  48,
  268,
  40,
], [29, 9, 20, 22]];

/** Satellite, elevation, azimuth, signal: four to a sentence. */
function satellitesInView(): string[] {
  const sentences = Math.ceil(SATELLITES.length / 4);
  return Array.from({ length: sentences }, (_, i) => {
    const group = SATELLITES.slice(i * 4, i * 4 + 4).map((s) =>
      s.map((n, k) => k === 2 ? String(n).padStart(3, "0") : two(n)).join(",")
    );
    return sentence(`GPGSV,${sentences},${i + 1},${two(SATELLITES.length)},${group.join(",")}`);
  });
}

/** The position at a time, and which way and how fast it goes: once around a circle in ten minutes. */
function position(secs: number): { latitude: number; longitude: number; knots: number; course: number } {
  const turn = 2 * Math.PI * secs / LAP_SECS;
  const stretch = Math.cos(CENTRE.latitude * Math.PI / 180);
  return {
    latitude: CENTRE.latitude + RADIUS_DEGREES * Math.sin(turn),
    longitude: CENTRE.longitude + RADIUS_DEGREES / stretch * Math.cos(turn),
    // A minute of latitude is a nautical mile.
    knots: 2 * Math.PI * RADIUS_DEGREES * 60 / LAP_SECS * 3600,
    course: (360 - (secs / LAP_SECS * 360) % 360) % 360,
  };
}

/**
 * A GPS receiver that goes around: GGA, RMC and GSV once a second. `wallMs` is the time of day at the first step, ms
 * since 1970.
 */
export function nmeaDevice(wallMs: number): SimDevice {
  let started: number | undefined;
  let secs = 0;
  return {
    step(_input, now) {
      started ??= now;
      if (now < started + secs * 1000) return NOTHING;
      const d = new Date(wallMs + secs * 1000);
      const time = `${two(d.getUTCHours())}${two(d.getUTCMinutes())}${two(d.getUTCSeconds())}.00`;
      const date = `${two(d.getUTCDate())}${two(d.getUTCMonth() + 1)}${two(d.getUTCFullYear() % 100)}`;
      const p = position(secs);
      const place = `${angle(p.latitude, 2, "NS")},${angle(p.longitude, 3, "EW")}`;
      secs = Math.floor((now - started) / 1000) + 1;
      return encode(
        sentence(`GPGGA,${time},${place},1,${two(SATELLITES.length)},0.9,34.5,M,44.6,M,,`) +
          sentence(`GPRMC,${time},A,${place},${p.knots.toFixed(1)},${p.course.toFixed(1)},${date},,,A`) +
          satellitesInView().join(""),
      );
    },
    next: (now) => (started === undefined ? 0 : Math.max(0, started + secs * 1000 - now)),
  };
}
