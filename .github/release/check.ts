// What a release must have: node .github/release/check.ts v1.2.3 prints its part of the CHANGELOG, or what is missing.
import { readFileSync } from 'node:fs';

/** The files that a release is judged by, as they are in the repository. */
export interface Sources {
  manifest: { version?: string; repository?: { url?: string }; scripts?: Record<string, string> };
  lock: { version?: string };
  changelog: string;
}

/** Run where a package is installed, so nobody could read them before. */
const AT_INSTALL = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare'];

/** @returns the part of the CHANGELOG that is of a version: its heading, and what stands below */
function partOf(changelog: string, version: string): { heading: string; text: string } | undefined {
  const parts = changelog.split(/^## /m).slice(1);
  const part = parts.find(text => text.split(/\s/, 1)[0] === version);
  if (part === undefined) return undefined;
  const [heading = '', ...lines] = part.split('\n');
  return { heading, text: lines.join('\n').trim() };
}

/** @param tag as in `v1.2.3` @returns what the release has, or what it lacks */
export function judge(tag: string, { manifest, lock, changelog }: Sources): { notes: string; problems: string[] } {
  const problems: string[] = [];
  const version = /^v(\d+\.\d+\.\d+(?:-[\w.]+)?)$/.exec(tag)?.[1] ?? '';
  if (!version) problems.push(`The tag ${tag} is not of the form v1.2.3.`);
  if (manifest.version !== version) problems.push(`package.json has version ${manifest.version}: run npm version.`);
  if (lock.version !== manifest.version)
    problems.push(`package-lock.json has version ${lock.version}: run npm install.`);
  if (/your-organisation/.test(manifest.repository?.url ?? 'your-organisation'))
    problems.push('package.json names no repository: its provenance could not be checked.');
  const scripts = AT_INSTALL.filter(name => manifest.scripts?.[name] !== undefined);
  if (scripts.length > 0) problems.push(`package.json runs ${scripts.join(', ')} where it is installed.`);
  const part = version ? partOf(changelog, version) : undefined;
  if (!part) problems.push(`CHANGELOG.md has no entry of ${version || tag}.`);
  else if (!/ – \d{4}-\d{2}-\d{2}$/.test(part.heading))
    problems.push(`CHANGELOG.md has no date for ${version}: write "## ${version} – 2026-12-31".`);
  else if (!/^- /m.test(part.text)) problems.push(`CHANGELOG.md says nothing of ${version}.`);
  return { notes: part?.text ?? '', problems };
}

if (import.meta.main) {
  const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
  const { notes, problems } = judge(process.argv[2] ?? '', {
    manifest: JSON.parse(read('package.json')),
    lock: JSON.parse(read('package-lock.json')),
    changelog: read('CHANGELOG.md'),
  });
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(notes);
}
