// Reads `created`: PHP's DateTime as JSON, a local time with its zone.
import type { Timestamp } from './payment.ts';
import { ABBREVIATIONS } from './zone-abbreviations.ts';

const LOCAL_TIME = /^(\d{4}-\d\d-(\d\d))[ T](\d\d:\d\d:\d\d(?:\.\d+)?)$/;
const OFFSET = /^([+-])(\d\d):?(\d\d)(?::?(\d\d))?$/;

/** Returns a payment's creation time to the millisecond, as PHP reads it. Null if absent, unreadable or of unknown zone. */
export function createdAt(payment: { created?: Timestamp | null | undefined }): Date | null {
  const { date, timezone, timezone_type: type } = payment.created ?? {};
  const zone = String(timezone);
  const localTime = readLocalTime(String(date));
  const offset = type === 2 ? ABBREVIATIONS.get(zone.toUpperCase()) : (readOffset(zone) ?? zoneOffset(zone, localTime));
  const time = localTime - (offset ?? Number.NaN) * 1000;
  return Number.isNaN(time) ? null : new Date(time);
}

/** Returns milliseconds, as if in UTC, or NaN. */
function readLocalTime(text: string) {
  const [, day, dayOfMonth, time] = LOCAL_TIME.exec(text) ?? [];
  const localTime = new Date(`${day}T${time}Z`);
  // 30 February parses, as 2 March.
  return localTime.getUTCDate() === Number(dayOfMonth) ? localTime.getTime() : Number.NaN;
}

/** Returns the seconds of `+02:00`. */
function readOffset(text: string) {
  const [, sign, hours, minutes, seconds = 0] = OFFSET.exec(text) ?? [];
  if (!sign) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}

/**
 * Returns seconds east of UTC. Follows PHP's rule (timelib's do_adjust_timezone) for the hour that a clock change
 * repeats. A skipped hour keeps the offset from before it.
 */
function zoneOffset(zone: string, localTime: number) {
  try {
    const format = formatOf(zone);
    // Such as `7/1/2026, GMT+02:00`, or only `GMT` at the end.
    const offset = (instant: number) => readOffset(format.format(instant).split('GMT')[1] ?? '') ?? 0;
    const current = offset(localTime);
    const after = offset(localTime - current * 1000);
    return after > current && offset(localTime - after * 1000) !== after ? current : after;
  } catch {
    // An unknown zone, or NaN.
    return undefined;
  }
}

/** Formats are expensive, and a gateway has one zone. */
let last: { zone: string; format: Intl.DateTimeFormat } | undefined;

function formatOf(timeZone: string) {
  if (last?.zone !== timeZone)
    last = { zone: timeZone, format: new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }) };
  return last.format;
}
