// Builds the site once for all tests of it, as whoever publishes it would.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

export default function build(): void {
  // On Windows npm is a script, which only a shell runs.
  const options = { cwd: root, shell: process.platform === 'win32', stdio: 'inherit', timeout: 300_000 } as const;
  execFileSync('npm', ['run', '--silent', 'docs'], options);
}
