// Reads `created`: PHP's DateTime as JSON, a local time and the zone it belongs to.

import type { Timestamp } from './payment.ts';
import { abbreviationOffset } from './zone-abbreviations.ts';

const LOCAL_TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?$/;
const OFFSET = /^([+-])(\d\d):?(\d\d)(?::?(\d\d))?$/;

/**
 * The moment a payment was created, to the millisecond, as PHP itself would read it. Null if `created` is absent,
 * its text unreadable, or its zone unknown.
 */
export function createdAt(payment: { created?: Timestamp | null | undefined }): Date | null {
  const { date, timezone, timezone_type: type } = payment.created ?? {};
  const localTime = typeof date === 'string' ? readLocalTime(date) : undefined;
  if (localTime === undefined || typeof timezone !== 'string') return null;
  const offset = readOffset(timezone, type, localTime);
  return offset === undefined ? null : new Date(localTime - offset * 1000);
}

/** Milliseconds, the local time read as if it were UTC. */
function readLocalTime(text: string): number | undefined {
  const [, day, time, fraction = ''] = LOCAL_TIME.exec(text) ?? [];
  const iso = `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
  const localTime = new Date(iso);
  // 30 February parses, as 2 March.
  return Number.isNaN(localTime.getTime()) || localTime.toISOString() !== iso ? undefined : localTime.getTime();
}

/** Seconds east of UTC at that local time, or undefined for an unknown zone. */
function readOffset(zone: string, type: number | null | undefined, localTime: number): number | undefined {
  if (type === 2) return abbreviationOffset(zone);
  const [, sign, hours, minutes, seconds = 0] = OFFSET.exec(zone) ?? [];
  if (sign) return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
  return zoneOffset(zone, localTime);
}

/**
 * PHP's own rule (timelib's do_adjust_timezone). It settles the hour that a clock change repeats, and lets an hour
 * that one skips keep the offset from before the change.
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

/** Formats are expensive to make and zones are few, so each is kept; an unknown zone is not. */
function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  // The sender of the record chooses the capitals, and must not choose how much is kept.
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
