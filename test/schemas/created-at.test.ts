import { createdAt } from 'payment-gateway-sdk';
import { describe, expect, it } from 'vitest';
import { PHP_TIMESTAMPS } from '../support/fixtures.ts';

const read = (date: unknown, timezone: unknown, timezone_type?: number) =>
  createdAt({ created: { date, timezone, timezone_type } as never });

/** Their rule for 2025 differs between the tz database of PHP here and that of Node. */
const REDEFINED = ['Europe/Chisinau', 'Europe/Tiraspol'];

describe('createdAt', () => {
  it('agrees with PHP in every zone, also in the hours that a clock change skips and repeats', { tags: 'long' }, () => {
    const differing: string[] = [];
    let compared = 0;
    for (const [zone, walls] of Object.entries(PHP_TIMESTAMPS.zones)) {
      for (const [wall, seconds] of Object.entries(walls)) {
        compared += 1;
        if (read(`${wall}.000000`, zone, 3)?.getTime() !== seconds * 1000) differing.push(zone);
      }
    }
    expect(differing.filter(zone => !REDEFINED.includes(zone))).toEqual([]);
    expect(compared).toBeGreaterThan(3000);
  });

  it('agrees with PHP on every abbreviation', () => {
    for (const [name, seconds] of Object.entries(PHP_TIMESTAMPS.abbreviations)) {
      expect([name, read('2026-03-29 02:30:00.000000', name, 2)]).toEqual([name, new Date(seconds * 1000)]);
    }
    expect(Object.keys(PHP_TIMESTAMPS.abbreviations)).toHaveLength(144);
  });

  it('agrees with PHP on offsets', () => {
    for (const [name, seconds] of Object.entries(PHP_TIMESTAMPS.offsets)) {
      expect(read('2026-03-29 02:30:00.000000', name, 1)).toEqual(new Date(seconds * 1000));
    }
  });

  it('reads the JSON of a DateTime to the millisecond', () => {
    for (const [json, milliseconds] of Object.entries(PHP_TIMESTAMPS.json)) {
      expect(createdAt({ created: JSON.parse(json) })).toEqual(new Date(milliseconds));
    }
  });

  it('tells the abbreviation CET, always +1, from the zone CET, which has summers', () => {
    expect(read('2026-07-01 12:00:00', 'CET', 2)).toEqual(new Date('2026-07-01T11:00:00Z'));
    expect(read('2026-07-01 12:00:00', 'CET', 3)).toEqual(new Date('2026-07-01T10:00:00Z'));
  });

  const NOON = '2026-01-01 12:00:00';
  const NO_DATES = ['2026-02-30 12:00:00', '2026-01-01 25:00:00', 'tomorrow', `x${NOON}`, `${NOON}x`, '', null];
  const NO_ZONES = ['+01:00x', 'x+01:00', '01:30:15', 'Mars/Olympus', '', null];
  it.each<[date: unknown, zone: unknown, type?: number]>([
    ...NO_DATES.map((date): [unknown, unknown] => [date, 'UTC']),
    ...NO_ZONES.map((zone): [unknown, unknown] => [NOON, zone]),
    ...['', 'J', 'AB', 'XYZ'].map((zone): [unknown, unknown, number] => [NOON, zone, 2]),
    [undefined, undefined],
  ])('answers null for %j in %j', (date, zone, type = 3) => {
    expect(read(date, zone, type)).toBeNull();
    expect([createdAt({}), createdAt({ created: null })]).toEqual([null, null]);
  });

  // php -r 'echo (new DateTime("1971-06-01 00:00:00", new DateTimeZone("Africa/Monrovia")))->getTimestamp();'
  it('agrees with PHP where the offset of a zone had seconds', () => {
    expect(read('1971-06-01 00:00:00', 'Africa/Monrovia', 3)).toEqual(new Date(44_585_070_000));
  });
});
