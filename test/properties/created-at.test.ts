// createdAt reads any moment that PHP writes as PHP itself reads it.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { createdAt } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { lacks } from '../support/skips.ts';
import { tries, word } from './arbitraries.ts';

const hasPhp = spawnSync('php', ['--version']).status === 0;

/** Seconds since 1970 between which moments lie: as payments are old, and a few decades more. */
const [FROM, UNTIL] = [Date.UTC(1990, 0) / 1000, Date.UTC(2060, 0) / 1000];
const ZONES = Intl.supportedValuesOf('timeZone');

interface Moment {
  date: string;
  timezone_type: number;
  timezone: string;
}

function askPhp(question: object): { read: (number | null)[]; offsets: Record<string, Record<string, number>> } {
  const script = fileURLToPath(new URL('../fixtures/php-created-at.php', import.meta.url));
  const { stdout, stderr, status } = spawnSync('php', [script], { input: JSON.stringify(question), maxBuffer: 1e9 });
  if (status !== 0) throw new Error(`php failed: ${stderr} ${stdout}`.slice(0, 2_000));
  return JSON.parse(String(stdout));
}

const two = (value: number) => String(value).padStart(2, '0');
const microseconds = fc.nat(999_999).map(value => String(value).padStart(6, '0'));
const wall = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ');
const anyTime = fc.integer({ min: FROM, max: UNTIL }).map(seconds => wall(seconds * 1000));
/** Clocks change on nights to Sunday: hours are skipped then, and come twice. */
const sundayNight = fc
  .record({
    year: fc.integer({ min: 1990, max: 2059 }),
    month: fc.constantFrom(2, 3, 8, 9, 10),
    week: fc.nat(4),
    minute: fc.integer({ min: -60, max: 240 }),
  })
  .map(({ year, month, week, minute }) => {
    const first = Date.UTC(year, month, 1);
    const sunday = 1 + ((7 - new Date(first).getUTCDay()) % 7) + 7 * week;
    return wall(Date.UTC(year, month, sunday, 0, minute));
  });
const date = fc
  .tuple(fc.oneof(anyTime, sundayNight, sundayNight, sundayNight), microseconds)
  .map(parts => parts.join('.'));

const offset = fc
  .tuple(fc.constantFrom('+', '-'), fc.nat(14), fc.nat(59))
  .map(([sign, hours, minutes]) => `${sign}${two(hours)}:${two(minutes)}`);
// PHP's own names of them: test/fixtures/php-timestamps.json has all.
const abbreviation = word('CET CEST EST PDT UTC GMT IST AKDT NST Z A M Y');

const moment = (zone: fc.Arbitrary<string>): fc.Arbitrary<Moment> =>
  fc.oneof(
    { arbitrary: fc.record({ date, timezone_type: fc.constant(3), timezone: zone }), weight: 6 },
    { arbitrary: fc.record({ date, timezone_type: fc.constant(1), timezone: offset }), weight: 1 },
    { arbitrary: fc.record({ date, timezone_type: fc.constant(2), timezone: abbreviation }), weight: 1 },
  );

/** Of a zone, seconds east of UTC at a moment, as Node's database of zones has it. */
function offsetIn(zone: string, seconds: number): number {
  const format = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  return Date.parse(`${format.format(seconds * 1000).replace(' ', 'T')}Z`) / 1000 - seconds;
}

describe.skipIf(lacks(hasPhp, 'createdAt beside PHP itself: there is no php on this machine'))('createdAt', () => {
  it('agrees with PHP on any moment in any zone', () => {
    const { numRuns, seed } = tries(1_200);
    const moments = fc.sample(moment(fc.constantFrom(...ZONES)), { numRuns, seed });
    const { read, offsets } = askPhp({ moments, zones: ZONES, from: FROM, until: UNTIL });
    const differing = moments.filter((created, index) => createdAt({ created })?.getTime() !== read[index]);
    // Two versions of the database of zones differ in some: there, another answer is theirs.
    const isOf = new Map<string, boolean>();
    const knowsAnother = (zone: string) => {
      const known =
        isOf.get(zone) ?? Object.entries(offsets[zone] ?? {}).some(([at, east]) => offsetIn(zone, Number(at)) !== east);
      isOf.set(zone, known);
      return known;
    };
    expect(differing.filter(({ timezone }) => !knowsAnother(timezone))).toEqual([]);
    expect(differing.length).toBeLessThan(numRuns / 20);
  });
});
