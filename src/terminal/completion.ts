// Prints the completion of a program for a shell, made from its table.
import { isValueOption, type Option, type Options } from './options.ts';
import { type CommandEntry, entriesOf, entryOf, namesOf, type Program, type SHELLS } from './program.ts';

export const completionOf = (program: Program, shell: (typeof SHELLS)[number]): string =>
  ({ bash, zsh, fish })[shell](program);

const functionOf = ({ name }: Program): string => `_${name.replaceAll('-', '_')}`;

const flagsOf = ({ options }: CommandEntry): string[] => [...Object.keys(options), 'help'].map(one => `--${one}`);

/** What may stand behind the name of a command. */
const argumentsOf = (program: Program, name: string): readonly string[] =>
  name === 'help' ? namesOf(program) : (entryOf(program, name).arguments?.[0]?.values ?? []);

/** Whether a file may stand there too. */
const takesFile = ({ arguments: wanted }: CommandEntry): boolean => wanted?.[0]?.orFile !== undefined;

function bash(program: Program): string {
  const names = namesOf(program);
  const entries = Object.entries(entriesOf(program));
  const files = 'COMPREPLY=($(compgen -f -- "$current")); return';
  const values = Object.entries<Option>(program.options).flatMap(([name, option]) =>
    isValueOption(option) ? [`    --${name}) ${option.values ? `words='${option.values.join(' ')}'` : files} ;;`] : [],
  );
  const withFile = entries.filter(([, entry]) => takesFile(entry)).map(([name]) => name);
  const filesToo = withFile.map(name => `\n  [ "$command" = ${name} ] && COMPREPLY+=($(compgen -f -- "$current"))`);
  return `# Completion of ${program.name} for bash.
${functionOf(program)}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command=${program.otherwise ?? ''} words= at
  case "$previous" in
${values.join('\n')}
  esac
  if [ -z "$words" ]; then
    for ((at = 1; at < COMP_CWORD; at++)); do
      case "\${COMP_WORDS[at]}" in
        ${names.join('|')}) command="\${COMP_WORDS[at]}"; break ;;
      esac
    done
    case "$command" in
${entries.map(([name, entry]) => `      ${name}) words='${[...flagsOf(entry), ...argumentsOf(program, name)].join(' ')}' ;;`).join('\n')}
    esac
    [ "$at" -ge "$COMP_CWORD" ] && words="$words ${names.join(' ')}"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))${filesToo.join('')}
}
complete -o nosort -F ${functionOf(program)} ${program.name}`;
}

/** In single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function zsh(program: Program): string {
  const own = functionOf(program);
  const entries = Object.entries(entriesOf(program));
  const spec = ([name, does]: [string, string]): string => {
    const option = program.options[name] as Option;
    const text = does.replace(/[[\]:]/g, '\\$&');
    if (!isValueOption(option)) return quoted(`--${name}[${text}]`);
    const values = option.values ? `(${option.values.map(value => value.replaceAll(':', '\\:')).join(' ')})` : '_files';
    return quoted(`${option.isRepeated ? '*' : ''}--${name}[${text}]:${name}:${values}`);
  };
  const positional = (name: string, entry: CommandEntry): string[] => {
    const values = argumentsOf(program, name);
    if (values.length === 0) return [];
    return [quoted(`1:${name}:(${values.join(' ')})`), ...(takesFile(entry) ? [`'*:file:_files'`] : [])];
  };
  const argumentsFor = ([name, entry]: [string, CommandEntry]): string => {
    const specs = Object.entries(entry.options as Record<string, string>).map(spec);
    return `    ${name}) _arguments ${[...specs, `'--help[print the help]'`, ...positional(name, entry)].join(' ')} ;;`;
  };
  return `#compdef ${program.name}
# Completion of ${program.name} for zsh.
${own}() {
  local -a commands
  commands=(
${entries.map(([name, { does }]) => `    ${quoted(`${name}:${does}`)}`).join('\n')}
  )
  local command=${program.otherwise ?? ''} at
  for ((at = 2; at < CURRENT; at++)); do
    if (( \${commands[(I)\${words[at]}:*]} )); then command=\${words[at]}; break; fi
  done
  if (( at >= CURRENT )) && [[ \${words[CURRENT]} != -* ]]; then _describe command commands; return; fi
  if (( at < CURRENT )); then shift $((at - 1)) words; (( CURRENT -= at - 1 )); fi
  case $command in
${entries.map(argumentsFor).join('\n')}
  esac
}
if [ "$funcstack[1]" = ${own} ]; then ${own} "$@"; else compdef ${own} ${program.name}; fi`;
}

function fish(program: Program): string {
  const { name: typed, otherwise } = program;
  const entries = Object.entries(entriesOf(program));
  const others = namesOf(program).filter(name => name !== otherwise);
  const whenOf = (name: string) =>
    name === otherwise ? `not __fish_seen_subcommand_from ${others.join(' ')}` : `__fish_seen_subcommand_from ${name}`;
  const line = (...parts: string[]) => `complete -c ${typed} ${parts.join(' ')}`;
  const commands = entries.map(([name, { does }]) =>
    line('-n __fish_use_subcommand', '-f', `-a ${name}`, `-d ${quoted(does)}`),
  );
  const details = entries.flatMap(([name, entry]) => {
    const when = `-n ${quoted(whenOf(name))}`;
    const options = Object.entries(entry.options as Record<string, string>).map(([option, does]) =>
      line(when, `-l ${option}${fishValue(program.options, option)}`, `-d ${quoted(does)}`),
    );
    const values = argumentsOf(program, name);
    return [...options, ...(values.length > 0 ? [line(when, `-a ${quoted(values.join(' '))}`)] : [])];
  });
  return [`# Completion of ${typed} for fish.`, ...commands, ...details].join('\n');
}

function fishValue(options: Options, name: string): string {
  const option = options[name] as Option;
  if (!isValueOption(option)) return '';
  return option.values ? ` -r -f -a ${quoted(option.values.join(' '))}` : ' -r';
}
