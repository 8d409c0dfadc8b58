// A command line as its program reads it, without running the command.
import type { Command } from 'commander';
import { vi } from 'vitest';
import { CommandError } from '../../src/terminal/program.ts';

/** What a program understands; a refusal is the line that it prints, and a help its text. */
export function readLine(program: Command, line: string | string[]) {
  let read: { name: string; args: string[]; values: object } | undefined;
  for (const command of program.commands) {
    command.action(() => {
      read = { name: command.name(), args: command.args, values: command.opts() };
    });
  }
  const printed: string[] = [];
  for (const name of ['log', 'error'] as const)
    vi.spyOn(console, name).mockImplementation(text => void printed.push(String(text)));
  try {
    program.parse(typeof line === 'string' ? line.split(' ').filter(Boolean) : line, { from: 'user' });
    return read;
  } catch (error) {
    if (error instanceof CommandError) return printed.join('\n') || `${program.name()}: ${error.message}`;
    throw error;
  } finally {
    vi.restoreAllMocks();
  }
}
