// A program as a table: from it its command line is read, its help is printed, and shells complete it.
import type { Options } from './options.ts';

/** What stands behind the name of a command. */
export interface Argument {
  /** What it is called in the help and in messages. */
  name: string;
  isOptional?: true;
  /** Those there are, for the completion, and for a hint at a name mistyped. */
  values?: readonly string[];
  /** What the name of a file looks like that may stand in its place. */
  orFile?: RegExp;
  /** @throws {UsageError} for what else is wrong */
  check?(given: string): void;
}

/** Names and what they do, under a heading. */
interface List {
  title: string;
  entries: Readonly<Record<string, string>>;
}

export interface CommandEntry<OptionName extends string = string> {
  /** One line. */
  does: string;
  arguments?: readonly Argument[];
  /** Each with what it does. */
  options: { readonly [Name in OptionName]?: string };
  /** Further paragraphs. */
  more?: readonly string[];
  lists?: readonly List[];
  /** Without the name of the program. */
  examples?: readonly string[];
}

export interface Program<Name extends string = string, O extends Options = Options> {
  /** As it is typed. */
  name: string;
  /** What it is for. */
  does: string;
  /** Every option that a command of it takes. */
  options: O;
  commands: Readonly<Record<Name, CommandEntry>>;
  /** The command of a line that names none. */
  otherwise?: Name;
  /** Below the commands in its help. */
  lists?: readonly List[];
  /** The last paragraph of its help. */
  exitCodes: string;
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Commands that every program has. */
const SHARED = {
  completion: {
    does: 'print the completion for a shell',
    arguments: [{ name: 'shell', values: SHELLS }],
    options: {},
    examples: ['completion bash >> ~/.bashrc'],
  },
  help: {
    does: 'print this, or the help of a command',
    arguments: [{ name: 'command', isOptional: true }],
    options: {},
  },
} as const satisfies Record<string, CommandEntry>;

/** All commands of a program, in the order of its help. */
export const entriesOf = (program: Program): Readonly<Record<string, CommandEntry>> => ({
  ...program.commands,
  ...SHARED,
});

/** @param name one of them */
export const entryOf = (program: Program, name: string): CommandEntry => entriesOf(program)[name] as CommandEntry;

export const namesOf = (program: Program): string[] => Object.keys(entriesOf(program));
