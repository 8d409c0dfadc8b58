// Reads `created`: PHP's DateTime as JSON, a local time with its zone.
import type { Timestamp } from './payment.ts';
import { ABBREVIATIONS } from './zone-abbreviations.ts';

const LOCAL_TIME = /^(\d{4}-\d\d-(\d\d))[ T](\d\d:\d\d:\d\d(?:\.\d+)?)$/;
const OFFSET = /^([+-])(\d\d):?(\d\d)(?::?(\d\d))?$/;

/**
 * Returns the creation time of a payment to the millisecond, as PHP reads it. Null if `created` is absent or
 * unreadable, or its zone is unknown.
 */
export function createdAt(payment: { created?: Timestamp | null | undefined }): Date | null {
  const { date, timezone, timezone_type: type } = payment.created ?? {};
  if (typeof date !== 'string' || typeof timezone !== 'string') return null;
  const localTime = readLocalTime(date);
  if (localTime === undefined) return null;
  const offset =
    type === 2
      ? ABBREVIATIONS.get(timezone.toUpperCase())
      : (readOffset(timezone) ?? zoneOffset(formatOf(timezone), localTime));
  return offset === undefined ? null : new Date(localTime - offset * 1000);
}

/** Returns milliseconds, with the local time read as UTC. */
function readLocalTime(text: string): number | undefined {
  const [, day, dayOfMonth, time] = LOCAL_TIME.exec(text) ?? [];
  const localTime = new Date(`${day}T${time}Z`);
  // 30 February parses, as 2 March.
  return localTime.getUTCDate() === Number(dayOfMonth) ? localTime.getTime() : undefined;
}

/** Returns the seconds of `+02:00`. */
function readOffset(text: string): number | undefined {
  const [, sign, hours, minutes, seconds = 0] = OFFSET.exec(text) ?? [];
  if (!sign) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}

/**
 * Returns seconds east of UTC. Follows PHP's rule (timelib's do_adjust_timezone) for the hour that a clock change
 * repeats. An hour that a change skips keeps the offset from before it.
 */
function zoneOffset(format: Intl.DateTimeFormat | undefined, localTime: number): number | undefined {
  if (!format) return undefined;
  // Such as `7/1/2026, GMT+02:00`, or `GMT` alone at the end.
  const offset = (instant: number) => readOffset(format.format(instant).split('GMT')[1] ?? '') ?? 0;
  const current = offset(localTime);
  const after = offset(localTime - current * 1000);
  return after > current && offset(localTime - after * 1000) !== after ? current : after;
}

/** The format of the last zone, because formats are expensive and a gateway has one zone. */
let last: { zone: string; format: Intl.DateTimeFormat } | undefined;

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  try {
    if (last?.zone !== zone)
      last = { zone, format: new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' }) };
    return last.format;
  } catch {
    return undefined;
  }
}
