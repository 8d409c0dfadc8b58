// Reads `created`: PHP's DateTime as JSON, a local time with its zone.
import type { Timestamp } from './payment.ts';
import { abbreviationOffset } from './zone-abbreviations.ts';

const LOCAL_TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?$/;
const OFFSET = /^([+-])(\d\d):?(\d\d)(?::?(\d\d))?$/;

/**
 * Returns the creation time of a payment to the millisecond, as PHP reads it. Null if `created` is absent or
 * unreadable, or its zone is unknown.
 */
export function createdAt(payment: { created?: Timestamp | null | undefined }): Date | null {
  const { date, timezone, timezone_type: type } = payment.created ?? {};
  const localTime = typeof date === 'string' ? readLocalTime(date) : undefined;
  if (localTime === undefined || typeof timezone !== 'string') return null;
  const offset = readOffset(timezone, type, localTime);
  return offset === undefined ? null : new Date(localTime - offset * 1000);
}

/** Returns milliseconds, with the local time read as UTC. */
function readLocalTime(text: string): number | undefined {
  const [, day, time, fraction = ''] = LOCAL_TIME.exec(text) ?? [];
  const iso = `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const localTime = new Date(iso);
  // 30 February parses, as 2 March.
  return Number.isNaN(localTime.getTime()) || localTime.toISOString() !== iso ? undefined : localTime.getTime();
}

/** Returns seconds east of UTC at that local time, or undefined for an unknown zone. */
function readOffset(zone: string, type: number | null | undefined, localTime: number): number | undefined {
  if (type === 2) return abbreviationOffset(zone);
  const [, sign, hours, minutes, seconds = 0] = OFFSET.exec(zone) ?? [];
  if (sign) return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
  return zoneOffset(zone, localTime);
}

/**
 * Follows PHP's rule (timelib's do_adjust_timezone) for the hour that a clock change repeats. An hour that a change
 * skips keeps the offset from before it.
 */
function zoneOffset(zone: string, localTime: number): number | undefined {
  const format = formatOf(zone);
  if (!format) return undefined;
  const offset = (instant: number) => offsetAt(format, instant);
  const current = offset(localTime);
  const after = offset(localTime - current * 1000);
  return after > current && offset(localTime - after * 1000) !== after ? current : after;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Caches the formats of known zones, because formats are expensive and zones are few. */
function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  // The sender of the record chooses the capitals, and must not grow the cache with them.
  const name = zone.toLowerCase();
  const known = formats.get(name);
  if (known) return known;
  try {
    const format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
    formats.set(name, format);
    return format;
  } catch {
    return undefined;
  }
}

function offsetAt(format: Intl.DateTimeFormat, instant: number): number {
  // Such as `7/1/2026, GMT+02:00`, or `GMT` alone at the end.
  const text = format.format(instant);
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /GMT([+-])(\d+):(\d+)(?::(\d+))?/.exec(text) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}
