// What stops a release: .github/workflows/release.yml asks before it publishes.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { judge, type Sources } from '../.github/release/check.ts';

const sources = (changes: Partial<Sources> = {}): Sources => ({
  manifest: {
    version: '1.2.3',
    repository: { url: 'git+https://github.com/acme/payment-gateway-sdk.git' },
    scripts: {},
  },
  lock: { version: '1.2.3' },
  changelog:
    '# Changelog\n\n## 1.3.0 – unreleased\n\n- Later.\n\n## 1.2.3 – 2026-11-30\n\n### Added\n\n- A thing.\n\n## 1.2.2 – 2026-10-01\n\n- Before.\n',
  ...changes,
});

describe('a release', () => {
  it('has its part of the CHANGELOG for notes', () => {
    expect(judge('v1.2.3', sources())).toEqual({ notes: '### Added\n\n- A thing.', problems: [] });
  });

  it.each([
    ['a tag that is no version', 'release-1', {}, /tag release-1/],
    ['another version in package.json', 'v1.2.4', {}, /package\.json has version 1\.2\.3/],
    [
      'another version in the lock file',
      'v1.2.3',
      { lock: { version: '1.2.2' } },
      /package-lock\.json has version 1\.2\.2/,
    ],
    ['no entry in the CHANGELOG', 'v1.2.4', {}, /no entry of 1\.2\.4/],
    ['an entry of a longer version only', 'v1.2', {}, /no entry of v1\.2/],
    ['an entry without a date', 'v1.3.0', {}, /no date for 1\.3\.0/],
    [
      'an empty entry',
      'v1.2.3',
      { changelog: '## 1.2.3 – 2026-11-30\n\n## 1.2.2 – 2026-10-01\n\n- Before.' },
      /says nothing/,
    ],
    ['no repository', 'v1.2.3', { manifest: { version: '1.2.3' } }, /names no repository/],
    [
      'a script that runs where it is installed',
      'v1.2.3',
      { manifest: { ...sources().manifest, scripts: { postinstall: 'node x.js' } } },
      /postinstall/,
    ],
  ])('is refused with %s', (_, tag, changes, problem) => {
    expect(judge(tag, sources(changes)).problems).toContainEqual(expect.stringMatching(problem));
  });

  it('of what is in this repository lacks a repository and a date, until somebody publishes it', () => {
    const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
    const [manifest, lock] = [JSON.parse(read('package.json')), JSON.parse(read('package-lock.json'))];
    const { problems } = judge(`v${manifest.version}`, { manifest, lock, changelog: read('CHANGELOG.md') });
    expect(problems.filter(problem => !/names no repository|has no date/.test(problem))).toEqual([]);
  });
});

describe('the workflows', () => {
  const folder = new URL('../.github/workflows/', import.meta.url);
  const used = readdirSync(folder).flatMap(name =>
    [...readFileSync(new URL(name, folder), 'utf8').matchAll(/uses: (actions\/[\w-]+)@(.+)/g)].map(
      ([, action, version]) => ({
        name,
        action,
        version,
      }),
    ),
  );

  it('use one version of each action: what CI has tried is what a release runs', () => {
    const versions = Map.groupBy(used, ({ action }) => action);
    expect(versions.size).toBeGreaterThan(2);
    const differing = [...versions.values()].filter(uses => new Set(uses.map(({ version }) => version)).size > 1);
    expect(differing).toEqual([]);
  });

  it('name by its commit each action that a release runs', () => {
    const released = used.filter(({ name }) => name === 'release.yml' || name === 'ci.yml');
    expect(released.length).toBeGreaterThan(4);
    expect(released.filter(({ version }) => !/^[\da-f]{40} # v\d+\.\d+\.\d+$/.test(version as string))).toEqual([]);
  });
});
