// What Stryker's report says of a room, held against its threshold and the list of survivors.
import type { Room } from './rooms.ts';
import type { Survivor } from './survivors.ts';

export interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>;
}

interface Mutant {
  mutatorName: string;
  replacement?: string;
  status: string;
  location: { start: Position; end: Position };
}

interface Position {
  line: number;
  column: number;
}

export interface Outcome {
  name: string;
  mutants: number;
  killed: number;
  /** Survivors that are listed as such. */
  listed: number;
  /** Per cent of all, with one decimal, rounded down. */
  score: string;
  /** Why the run fails, if it does. */
  complaints: string[];
}

export const isCaught = ({ status }: Mutant) => status === 'Killed' || status === 'Timeout';
const isSurvivor = ({ status }: Mutant) => status === 'Survived' || status === 'NoCoverage';

/** The lines that a mutant changes, before and after: they stay the same where line numbers do not. */
function changeOf(source: string, { location, replacement = '' }: Mutant): { from: string; to: string } {
  const lines = source.split('\n');
  const { start, end } = location;
  const before = (lines[start.line - 1] ?? '').slice(0, start.column - 1);
  const after = (lines[end.line - 1] ?? '').slice(end.column - 1);
  const whole = lines.slice(start.line - 1, end.line).join('\n');
  const tidy = (text: string) => text.trim().replace(/\s+/g, ' ');
  return { from: tidy(whole), to: tidy(before + replacement + after) };
}

export const percent = (part: number, whole: number): string =>
  (whole === 0 ? 100 : Math.floor((part / whole) * 1000) / 10).toFixed(1);

export function outcomeOf(room: Room, report: Report, survivors: readonly Survivor[]): Outcome {
  let mutants = 0;
  let killed = 0;
  let listed = 0;
  const complaints: string[] = [];
  const seen = new Set<Survivor>();
  for (const [file, { source, mutants: all }] of Object.entries(report.files)) {
    for (const mutant of all) {
      if (isCaught(mutant)) killed += 1;
      else if (!isSurvivor(mutant)) continue;
      mutants += 1;
      if (isCaught(mutant)) continue;
      const { from, to } = changeOf(source, mutant);
      const entry = survivors.find(each => each.file === file && each.from === from && each.to === to);
      if (entry) {
        seen.add(entry);
        listed += 1;
      } else if (room.areListed) {
        const { line } = mutant.location.start;
        complaints.push(`${file}:${line} ${mutant.mutatorName} survives:\n    - ${from}\n    + ${to}`);
      }
    }
  }
  for (const entry of survivors) {
    if (entry.file in report.files && !seen.has(entry)) {
      complaints.push(`${entry.file}: is listed, but does not survive:\n    - ${entry.from}\n    + ${entry.to}`);
    }
  }
  const score = percent(killed, mutants);
  if (Number(score) < room.atLeast) complaints.push(`${score} % is below ${room.atLeast} %.`);
  return { name: room.name, mutants, killed, listed, score, complaints };
}
