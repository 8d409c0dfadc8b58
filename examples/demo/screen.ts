// Prints the demo's steps: requests, answers and callbacks.
import { styleText } from 'node:util';

const PAD = ' '.repeat(5);
let steps = 0;

export function title(text: string, detail: string): void {
  console.log(`\n  ${styleText('bold', text)}  ${styleText('dim', detail)}`);
}

export function step(text: string): void {
  steps += 1;
  console.log(`\n  ${styleText(['bold', 'cyan'], String(steps).padStart(2))} ${styleText('bold', text)}`);
}

/** A call to the gateway, with its fields. */
export function sent(call: string, fields: object = {}): void {
  line('→', 'blue', call, fields);
}

/** The gateway's answer. */
export function received(answer: string, fields: object = {}): void {
  line('←', 'magenta', answer, fields);
}

/** A callback at the shop's address. */
export function calledBack(status: string, fields: object = {}): void {
  line('⇠', 'yellow', `callback ${status}`, fields);
}

/** The shop's result. */
export function done(text: string): void {
  console.log(`${PAD}${styleText('green', '✓')} ${text}`);
}

export function failed(error: unknown): void {
  console.log(`${PAD}${styleText('red', '✗')} ${error instanceof Error ? error.stack : error}`);
}

export function closing(text: string): void {
  console.log(`\n  ${styleText(['bold', 'green'], text)}\n`);
}

function line(sign: string, color: 'blue' | 'magenta' | 'yellow', head: string, fields: object): void {
  console.log(`${PAD}${styleText(color, sign)} ${head}`);
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  for (const [name, value] of entries) {
    const shown = typeof value === 'object' ? JSON.stringify(value) : String(value);
    console.log(`${PAD}    ${styleText('dim', name.padEnd(width))}  ${shown}`);
  }
}
