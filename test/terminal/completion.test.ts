// What shells offer: each script is run by its shell.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SDK } from '../../src/cli/commands.ts';
import { SANDBOX } from '../../src/sandbox/cli/commands.ts';
import { SCENARIO_NAMES } from '../../src/sandbox/scenarios/library.ts';
import { completionOf } from '../../src/terminal/completion.ts';
import { isValueOption, type Option } from '../../src/terminal/options.ts';
import { entryOf, namesOf, type Program } from '../../src/terminal/program.ts';
import { lacks } from '../support/skips.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-gateway-completion-'));
afterAll(() => rmSync(folder, { recursive: true }));
/** Where the shells run: it has one file. */
const cwd = join(folder, 'files');
mkdirSync(cwd);
writeFileSync(join(cwd, 'state.json'), '');

type Shell = 'bash' | 'zsh' | 'fish';
/** Without it, bash reads what the user has set up, where it takes its caller for a remote one. */
const PLAIN = ['--norc'];
const isThere = (shell: Shell) => spawnSync(shell, ['-c', 'true']).status === 0;
const missing = (shell: Shell) =>
  lacks(isThere(shell), `the completion of ${shell}: there is no ${shell} on this machine`);

/** Runs a script after that of the completion. */
function run(program: Program, shell: Shell, options: string[], script: string, before = ''): string[] {
  const file = join(folder, `completion.${shell}`);
  writeFileSync(file, completionOf(program, shell));
  const { stdout, stderr } = spawnSync(shell, [...options, '-c', `${before}\nsource ${file}\n${script}`], {
    encoding: 'utf8',
    cwd,
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

const PROGRAMS: { name: string; program: Program; functionName: string }[] = [
  { name: 'payment-gateway-sandbox', program: SANDBOX, functionName: '_payment_gateway_sandbox' },
  { name: 'payment-gateway-sdk', program: SDK, functionName: '_payment_gateway_sdk' },
];
const COMMANDS = PROGRAMS.flatMap(one => namesOf(one.program).map(command => ({ ...one, command })));

const optionsOf = (program: Program, command: string) =>
  Object.entries(entryOf(program, command).options as Record<string, string>).map(([option, does]) => ({
    option,
    does,
    entry: program.options[option] as Option,
  }));
/** What an option takes, if that is known. */
const valuesOf = (option: Option) => (isValueOption(option) ? option.values : undefined);
/** As it is typed before the options of a command. */
const typed = (program: Program, command: string) => (command === program.otherwise ? '' : `${command} `);

describe.skipIf(missing('bash'))('bash', () => {
  /** What it offers for a line that ends where the cursor is. */
  const offered = (program: Program, line: string) => {
    const words = [program.name, ...line.split(' ')];
    return run(
      program,
      'bash',
      PLAIN,
      `COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_${program.name.replaceAll('-', '_')}; printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
  };

  it.each<[Program, string, string[]]>([
    [SANDBOX, 'tri', ['trigger']],
    [SANDBOX, 'trigger callback-f', ['callback-first', 'callback-forged']],
    [SANDBOX, '--port 5 fault callback-d', ['callback-duplicate', 'callback-delay', 'callback-drop-query']],
    [SANDBOX, 'wait --status C', ['COMPLETED', 'CANCELED']],
    [SANDBOX, 'logs --f', ['--follow']],
    [SANDBOX, 'logs --json --f', ['--follow']],
    [SANDBOX, 'logs --h', ['--help']],
    [SANDBOX, 'help re', ['redeliver', 'reset']],
    [SANDBOX, '--payid ', ['host-to-host', 'redirect']],
    [SANDBOX, '--auto c', ['complete:2s', 'cancel:2s']],
    [SANDBOX, 'completion ', ['--help', 'bash', 'zsh', 'fish']],
    [SANDBOX, 'reset tri', []],
    // Files, where anything may stand.
    [SANDBOX, '--state st', ['state.json']],
    [SANDBOX, 'redeliver 1 --body st', ['state.json']],
    [SANDBOX, 'trigger st', ['state.json']],
    [SANDBOX, 'show st', []],
    [SDK, 's', ['show', 'settle', 'sweep']],
    [SDK, 'settle a not_created --despite a', ['amount']],
    [SDK, 'drain --app st', ['state.json']],
    [SDK, 'show st', []],
  ])('%o offers for "%s" %j', (program, line, offers) => {
    expect(offered(program, line)).toEqual(offers);
  });

  it('offers the commands at the beginning, and the options of the one that needs no name', () => {
    const options = optionsOf(SANDBOX, 'serve').map(({ option }) => `--${option}`);
    expect(offered(SANDBOX, '')).toEqual([...options, '--help', ...namesOf(SANDBOX)]);
    expect(offered(SDK, '')).toEqual(['doubts', 'show', 'settle', 'drain', 'sweep', 'completion', 'help']);
  });

  it.each(COMMANDS)('offers the options of $name $command after it', ({ program, command }) => {
    const options = optionsOf(program, command).map(({ option }) => `--${option}`);
    expect(offered(program, `${command} --`)).toEqual([...options, '--help']);
  });

  it.each(PROGRAMS)('is asked by its name for $name', ({ name, program, functionName }) => {
    expect(run(program, 'bash', PLAIN, `complete -p ${name}`)).toEqual([
      `complete -o nosort -F ${functionName} ${name}`,
    ]);
  });
});

describe.skipIf(missing('fish'))('fish', () => {
  const asked = (program: Program, line: string) =>
    run(program, 'fish', ['--no-config'], `complete -C '${program.name} ${line}'`);
  const offered = (program: Program, line: string) => asked(program, line).sort();

  it.each<[Program, string, unknown[]]>([
    [SANDBOX, 'tri', ['trigger\tplay a scenario: a payment is created, moved and called back']],
    [SANDBOX, 'trigger callback-f', ['callback-first', 'callback-forged']],
    [SANDBOX, 'fault callback-d', ['callback-delay', 'callback-drop-query', 'callback-duplicate']],
    [SANDBOX, 'wait --status C', ['CANCELED\tin this state', 'COMPLETED\tin this state']],
    [SANDBOX, 'logs --f', ['--follow\tgo on with what happens from now on']],
    [SANDBOX, 'help re', ['redeliver', 'reset']],
    [
      SANDBOX,
      '--payid h',
      ['host-to-host\ta PayID deposit gets transfer instructions, or a page (default: host-to-host)'],
    ],
    [SANDBOX, 'reset --f', []],
    [SANDBOX, 'serve --auto complete:2s --st', [expect.stringMatching(/^--state\t/)]],
    // No command anew, and no file in place of one.
    [SANDBOX, 'reset tri', []],
    [SANDBOX, 'sta', []],
    [SDK, 'sw', ['sweep\tfor a scheduler: process the payments whose callbacks were lost']],
    [SDK, 'drain --fo', ['--follow\tgo on until SIGTERM, and send what is planned as soon as it is']],
    [SDK, '--fo', []],
  ])('%o offers for "%s" %j', (program, line, offers) => {
    expect(offered(program, line)).toEqual(offers);
  });

  it.each(PROGRAMS)('offers every command of $name with what it does', ({ program }) => {
    expect(asked(program, '').filter(line => line.includes('\t'))).toEqual(
      expect.arrayContaining(namesOf(program).map(name => `${name}\t${entryOf(program, name).does}`)),
    );
  });

  it.each(COMMANDS)(
    'offers the options of $name $command with what they do, and files where anything may stand',
    ({ program, command }) => {
      const before = typed(program, command);
      expect(offered(program, `${before}--`)).toEqual(
        optionsOf(program, command)
          .map(({ option, does }) => `--${option}\t${does}`)
          .sort(),
      );
      for (const { option, entry } of optionsOf(program, command).filter(({ entry }) => isValueOption(entry))) {
        const values = valuesOf(entry);
        const offers = offered(program, `${before}--${option} `).map(offer => offer.split('\t')[0]);
        expect([option, offers]).toEqual([option, values ? [...values].sort() : ['state.json']]);
      }
    },
  );
});

describe.skipIf(missing('zsh'))('zsh', () => {
  /** What is handed to zsh's own functions, of which it makes offers. */
  const handed = (program: Program, ...words: string[]) =>
    run(
      program,
      'zsh',
      ['-f'],
      `words=(${program.name} ${words.map(word => `'${word}'`).join(' ')}); CURRENT=${words.length + 1}
_${program.name.replaceAll('-', '_')}`,
      `compdef(){ }; _describe(){ print -r -- "$1"; print -rl -- "\${(@P)2}" }
_arguments(){ print -rl -- "arguments $words $CURRENT" "$@" }`,
    );

  it.each(PROGRAMS)('offers the commands of $name first', ({ program }) => {
    const commands = namesOf(program).map(name => `${name}:${entryOf(program, name).does}`);
    expect(handed(program, '')).toEqual(['command', ...commands]);
    expect(handed(program, 'tri')[0]).toBe('command');
  });

  it.each(COMMANDS)('offers the options of $name $command, and what may stand there', ({ program, command }) => {
    const [line, ...specs] = handed(program, '--port', '5', command, '');
    expect(line).toBe(`arguments ${command}  2`);
    const options = optionsOf(program, command).map(({ option, does, entry }) => {
      const text = does.replaceAll(':', '\\:');
      if (!isValueOption(entry)) return `--${option}[${text}]`;
      const values = valuesOf(entry);
      const known = values ? `(${values.join(' ').replaceAll(':', '\\:')})` : '_files';
      return `${entry.isRepeated ? '*' : ''}--${option}[${text}]:${option}:${known}`;
    });
    expect(specs.slice(0, options.length + 1)).toEqual([...options, '--help[print the help]']);
    const [argument] = entryOf(program, command).arguments ?? [];
    const values = command === 'help' ? namesOf(program) : argument?.values;
    expect(specs.slice(options.length + 1)).toEqual([
      ...(values ? [`1:${command}:(${values.join(' ')})`] : []),
      ...(command === 'trigger' ? ['*:file:_files'] : []),
    ]);
  });

  it('takes the options of serve without its name', () => {
    expect(handed(SANDBOX, '--port', '5', '--p')[0]).toBe('arguments payment-gateway-sandbox --port 5 --p 4');
    expect(handed(SANDBOX, '--p').slice(0, 2)).toEqual([
      'arguments payment-gateway-sandbox --p 2',
      '--port[where it listens; 0 takes a free port (default\\: 4010)]:port:_files',
    ]);
    // Where a command is needed, there are none before it.
    expect(handed(SDK, '--a')).toEqual([]);
  });

  it.each(PROGRAMS)('is found by its first line, and by its name, for $name', ({ name, program, functionName }) => {
    expect(completionOf(program, 'zsh').split('\n')[0]).toBe(`#compdef ${name}`);
    const file = join(folder, 'named.zsh');
    writeFileSync(file, completionOf(program, 'zsh'));
    const { stdout } = spawnSync('zsh', ['-fc', `compdef(){ print -r -- "$*" }; source ${file}`], { encoding: 'utf8' });
    expect(stdout).toBe(`${functionName} ${name}\n`);
  });
});

it.each(['bash', 'zsh', 'fish'] as const)('the script of %s says what it is, and knows every scenario', shell => {
  const script = completionOf(SANDBOX, shell);
  expect(script).toContain(`# Completion of payment-gateway-sandbox for ${shell}.\n`);
  expect(script).toContain(SCENARIO_NAMES.join(' '));
  expect(completionOf(SDK, shell)).toContain(`# Completion of payment-gateway-sdk for ${shell}.\n`);
});
