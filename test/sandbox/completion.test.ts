// What shells offer: each script is run by its shell.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { COMMAND_NAMES, entryOf } from '../../src/sandbox/cli/commands.ts';
import { completionOf } from '../../src/sandbox/cli/completion.ts';
import { isValueOption, OPTIONS, type Option, type OptionName } from '../../src/sandbox/cli/options.ts';
import { SCENARIO_NAMES } from '../../src/sandbox/scenarios/library.ts';
import { lacks } from '../support/skips.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-completion-'));
afterAll(() => rmSync(folder, { recursive: true }));
/** Where the shells run: it has one file. */
const cwd = join(folder, 'files');
mkdirSync(cwd);
writeFileSync(join(cwd, 'state.json'), '');

type Shell = 'bash' | 'zsh' | 'fish';
const isThere = (shell: Shell) => spawnSync(shell, ['-c', 'true']).status === 0;
const missing = (shell: Shell) =>
  lacks(isThere(shell), `the completion of ${shell}: there is no ${shell} on this machine`);

/** Runs a script after that of the completion. */
function run(shell: Shell, options: string[], script: string, before = ''): string[] {
  const file = join(folder, `completion.${shell}`);
  writeFileSync(file, completionOf(shell));
  const { stdout, stderr } = spawnSync(shell, [...options, '-c', `${before}\nsource ${file}\n${script}`], {
    encoding: 'utf8',
    cwd,
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

const optionsOf = (name: (typeof COMMAND_NAMES)[number]) =>
  Object.entries(entryOf(name).options).map(([option, does]) => ({
    option,
    does,
    entry: OPTIONS[option as OptionName] as Option,
  }));
/** What an option takes, if that is known. */
const valuesOf = (option: Option) => (isValueOption(option) ? option.values : undefined);

describe.skipIf(missing('bash'))('bash', () => {
  /** What it offers for a line that ends where the cursor is. */
  const offered = (line: string) => {
    const words = ['payment-gateway-sandbox', ...line.split(' ')];
    return run(
      'bash',
      [],
      `COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_payment_gateway_sandbox; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
  };

  it.each<[string, string[]]>([
    ['tri', ['trigger']],
    ['trigger callback-f', ['callback-first', 'callback-forged']],
    ['--port 5 fault callback-d', ['callback-duplicate', 'callback-delay', 'callback-drop-query']],
    ['wait --status C', ['COMPLETED', 'CANCELED']],
    ['logs --f', ['--follow']],
    ['logs --json --f', ['--follow']],
    ['logs --h', ['--help']],
    ['help re', ['redeliver', 'reset']],
    ['--payid ', ['host-to-host', 'redirect']],
    ['--auto c', ['complete:2s', 'cancel:2s']],
    ['completion ', ['--help', 'bash', 'zsh', 'fish']],
    ['reset tri', []],
    // Files, where anything may stand.
    ['--state st', ['state.json']],
    ['redeliver 1 --body st', ['state.json']],
    ['trigger st', ['state.json']],
    ['show st', []],
  ])('offers for "%s" %j', (line, offers) => {
    expect(offered(line)).toEqual(offers);
  });

  it('offers the commands, and the options of serve, at the beginning', () => {
    expect(offered('')).toEqual([...optionsOf('serve').map(({ option }) => `--${option}`), '--help', ...COMMAND_NAMES]);
  });

  it.each(COMMAND_NAMES)('offers the options of %s after it', name => {
    const options = optionsOf(name).map(({ option }) => `--${option}`);
    expect(offered(`${name} --`)).toEqual([...options, '--help']);
  });

  it('is asked by its name', () => {
    expect(run('bash', [], 'complete -p payment-gateway-sandbox')).toEqual([
      'complete -o nosort -F _payment_gateway_sandbox payment-gateway-sandbox',
    ]);
  });
});

describe.skipIf(missing('fish'))('fish', () => {
  const offered = (line: string) =>
    run('fish', ['--no-config'], `complete -C 'payment-gateway-sandbox ${line}'`).sort();

  it.each<[string, string[]]>([
    ['tri', ['trigger\tplay a scenario: a payment is created, moved and called back']],
    ['trigger callback-f', ['callback-first', 'callback-forged']],
    ['fault callback-d', ['callback-delay', 'callback-drop-query', 'callback-duplicate']],
    ['wait --status C', ['CANCELED\tin this state', 'COMPLETED\tin this state']],
    ['logs --f', ['--follow\tgo on with what happens from now on']],
    ['help re', ['redeliver', 'reset']],
    ['--payid h', ['host-to-host\ta PayID deposit gets transfer instructions, or a page (default: host-to-host)']],
    ['reset --f', []],
    ['serve --auto complete:2s --st', [expect.stringMatching(/^--state\t/)]],
    // No command anew, and no file in place of one.
    ['reset tri', []],
    ['sta', []],
  ])('offers for "%s" %j', (line, offers) => {
    expect(offered(line)).toEqual(offers);
  });

  it('offers every command with what it does', () => {
    expect(
      run('fish', ['--no-config'], "complete -C 'payment-gateway-sandbox '").filter(line => line.includes('\t')),
    ).toEqual(expect.arrayContaining(COMMAND_NAMES.map(name => `${name}\t${entryOf(name).does}`)));
  });

  it.each(COMMAND_NAMES)('offers the options of %s with what they do, and files where anything may stand', name => {
    const line = name === 'serve' ? '--' : `${name} --`;
    expect(offered(line)).toEqual(
      optionsOf(name)
        .map(({ option, does }) => `--${option}\t${does}`)
        .sort(),
    );
    for (const { option, entry } of optionsOf(name).filter(({ entry }) => isValueOption(entry))) {
      const values = valuesOf(entry);
      const offers = offered(`${name === 'serve' ? '' : `${name} `}--${option} `).map(offer => offer.split('\t')[0]);
      expect([option, offers]).toEqual([option, values ? [...values].sort() : ['state.json']]);
    }
  });
});

describe.skipIf(missing('zsh'))('zsh', () => {
  /** What is handed to zsh's own functions, of which it makes offers. */
  const handed = (...words: string[]) =>
    run(
      'zsh',
      ['-f'],
      `words=(payment-gateway-sandbox ${words.map(word => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}
_payment_gateway_sandbox`,
      `compdef(){ }; _describe(){ print -r -- "$1"; print -rl -- "\${(@P)2}" }
_arguments(){ print -rl -- "arguments $words $CURRENT" "$@" }`,
    );

  it('offers the commands first', () => {
    expect(handed('')).toEqual(['command', ...COMMAND_NAMES.map(name => `${name}:${entryOf(name).does}`)]);
    expect(handed('tri')[0]).toBe('command');
  });

  it.each(COMMAND_NAMES)('offers the options of %s, and what may stand there', name => {
    const [line, ...specs] = handed('--port', '5', name, '');
    expect(line).toBe(`arguments ${name}  2`);
    const options = optionsOf(name).map(({ option, does, entry }) => {
      const text = does.replaceAll(':', '\\:');
      if (!isValueOption(entry)) return `--${option}[${text}]`;
      const values = valuesOf(entry);
      const known = values ? `(${values.join(' ').replaceAll(':', '\\:')})` : '_files';
      return `${entry.isRepeated ? '*' : ''}--${option}[${text}]:${option}:${known}`;
    });
    expect(specs.slice(0, options.length + 1)).toEqual([...options, '--help[print the help]']);
    const [argument] = entryOf(name).arguments ?? [];
    const values = name === 'help' ? COMMAND_NAMES : argument?.values;
    expect(specs.slice(options.length + 1)).toEqual([
      ...(values ? [`1:${name}:(${values.join(' ')})`] : []),
      ...(name === 'trigger' ? ['*:file:_files'] : []),
    ]);
  });

  it('takes the options of serve without its name', () => {
    expect(handed('--port', '5', '--p')[0]).toBe('arguments payment-gateway-sandbox --port 5 --p 4');
    expect(handed('--p').slice(0, 2)).toEqual([
      'arguments payment-gateway-sandbox --p 2',
      '--port[where it listens; 0 takes a free port (default\\: 4010)]:port:_files',
    ]);
  });

  it('is found by its first line, and by its name', () => {
    expect(completionOf('zsh').split('\n')[0]).toBe('#compdef payment-gateway-sandbox');
    const file = join(folder, 'named.zsh');
    writeFileSync(file, completionOf('zsh'));
    const { stdout } = spawnSync('zsh', ['-fc', `compdef(){ print -r -- "$*" }; source ${file}`], { encoding: 'utf8' });
    expect(stdout).toBe('_payment_gateway_sandbox payment-gateway-sandbox\n');
  });
});

it.each(['bash', 'zsh', 'fish'] as const)('the script of %s says what it is, and knows every scenario', shell => {
  const script = completionOf(shell);
  expect(script).toContain(`# Completion of payment-gateway-sandbox for ${shell}.\n`);
  expect(script).toContain(SCENARIO_NAMES.join(' '));
});
