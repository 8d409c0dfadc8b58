// Prints the completion of the command line for a shell, made from the table of commands.
import { COMMAND_NAMES, type CommandName, entryOf, type SHELLS } from './commands.ts';
import { isValueOption, OPTIONS, type Option, type OptionName } from './options.ts';

const PROGRAM = 'payment-gateway-sandbox';
const FUNCTION = '_payment_gateway_sandbox';

export function completionOf(shell: (typeof SHELLS)[number]): string {
  return { bash, zsh, fish }[shell]();
}

const flagsOf = (name: CommandName): string[] => [...Object.keys(entryOf(name).options), 'help'].map(one => `--${one}`);

const argumentsOf = (name: CommandName): readonly string[] =>
  name === 'help' ? COMMAND_NAMES : (entryOf(name).arguments?.[0]?.values ?? []);

function bash(): string {
  const files = 'COMPREPLY=($(compgen -f -- "$current")); return';
  const values = Object.entries<Option>(OPTIONS).flatMap(([name, option]) =>
    isValueOption(option) ? [`    --${name}) ${option.values ? `words='${option.values.join(' ')}'` : files} ;;`] : [],
  );
  return `# Completion of ${PROGRAM} for bash.
${FUNCTION}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command=serve words= at
  case "$previous" in
${values.join('\n')}
  esac
  if [ -z "$words" ]; then
    for ((at = 1; at < COMP_CWORD; at++)); do
      case "\${COMP_WORDS[at]}" in
        ${COMMAND_NAMES.join('|')}) command="\${COMP_WORDS[at]}"; break ;;
      esac
    done
    case "$command" in
${COMMAND_NAMES.map(name => `      ${name}) words='${[...flagsOf(name), ...argumentsOf(name)].join(' ')}' ;;`).join('\n')}
    esac
    [ "$at" -ge "$COMP_CWORD" ] && words="$words ${COMMAND_NAMES.join(' ')}"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ "$command" = trigger ] && COMPREPLY+=($(compgen -f -- "$current"))
}
complete -o nosort -F ${FUNCTION} ${PROGRAM}`;
}

/** In single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function zsh(): string {
  const spec = ([name, does]: [string, string]): string => {
    const option: Option = OPTIONS[name as OptionName];
    const text = does.replace(/[[\]:]/g, '\\$&');
    if (!isValueOption(option)) return quoted(`--${name}[${text}]`);
    const values = option.values ? `(${option.values.map(value => value.replaceAll(':', '\\:')).join(' ')})` : '_files';
    return quoted(`${option.isRepeated ? '*' : ''}--${name}[${text}]:${name}:${values}`);
  };
  const positional = (name: CommandName): string[] => {
    const values = argumentsOf(name);
    if (values.length === 0) return [];
    const files = entryOf(name).arguments?.[0]?.isOpen ? [`'*:file:_files'`] : [];
    return [quoted(`1:${name}:(${values.join(' ')})`), ...files];
  };
  return `#compdef ${PROGRAM}
# Completion of ${PROGRAM} for zsh.
${FUNCTION}() {
  local -a commands
  commands=(
${COMMAND_NAMES.map(name => `    ${quoted(`${name}:${entryOf(name).does}`)}`).join('\n')}
  )
  local command=serve at
  for ((at = 2; at < CURRENT; at++)); do
    if (( \${commands[(I)\${words[at]}:*]} )); then command=\${words[at]}; break; fi
  done
  if (( at >= CURRENT )) && [[ \${words[CURRENT]} != -* ]]; then _describe command commands; return; fi
  if (( at < CURRENT )); then shift $((at - 1)) words; (( CURRENT -= at - 1 )); fi
  case $command in
${COMMAND_NAMES.map(
  name =>
    `    ${name}) _arguments ${[...Object.entries(entryOf(name).options).map(spec), `'--help[print the help]'`, ...positional(name)].join(' ')} ;;`,
).join('\n')}
  esac
}
if [ "$funcstack[1]" = ${FUNCTION} ]; then ${FUNCTION} "$@"; else compdef ${FUNCTION} ${PROGRAM}; fi`;
}

function fish(): string {
  const others = COMMAND_NAMES.filter(name => name !== 'serve').join(' ');
  const whenOf = (name: CommandName) =>
    name === 'serve' ? `not __fish_seen_subcommand_from ${others}` : `__fish_seen_subcommand_from ${name}`;
  const line = (...parts: string[]) => `complete -c ${PROGRAM} ${parts.join(' ')}`;
  const commands = COMMAND_NAMES.map(name =>
    line('-n __fish_use_subcommand', '-f', `-a ${name}`, `-d ${quoted(entryOf(name).does)}`),
  );
  const details = COMMAND_NAMES.flatMap(name => {
    const when = `-n ${quoted(whenOf(name))}`;
    const options = Object.entries(entryOf(name).options).map(([option, does]) => {
      const entry: Option = OPTIONS[option as OptionName];
      const value = isValueOption(entry) ? ` -r${entry.values ? ` -f -a ${quoted(entry.values.join(' '))}` : ''}` : '';
      return line(when, `-l ${option}${value}`, `-d ${quoted(does)}`);
    });
    const values = argumentsOf(name);
    return [...options, ...(values.length > 0 ? [line(when, `-a ${quoted(values.join(' '))}`)] : [])];
  });
  return [`# Completion of ${PROGRAM} for fish.`, ...commands, ...details].join('\n');
}
