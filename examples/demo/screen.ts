// Prints the demo's scenes: a line for each step, with the actor in front.
import { styleText } from 'node:util';

const ACTORS = { customer: 'blue', shop: 'green', gateway: 'magenta', stranger: 'red', operator: 'yellow' } as const;
const PAD = ' '.repeat(6);
let scenes = 0;

export function title(text: string, detail: string): void {
  console.log(`\n  ${styleText('bold', text)}  ${styleText('dim', detail)}`);
}

export function scene(text: string): void {
  scenes += 1;
  console.log(`\n  ${styleText(['bold', 'cyan'], String(scenes).padStart(2))}  ${styleText('bold', text)}`);
}

/** One step. */
export function says(actor: keyof typeof ACTORS, text: string, result = ''): void {
  const line = `${styleText(ACTORS[actor], actor.padEnd(8))}  ${text}`;
  console.log(`${PAD}${line}${result && `  ${styleText('dim', `→ ${result}`)}`}`);
}

/** The result of a scene. */
export function done(text: string): void {
  console.log(`${PAD}${styleText('green', '✓')} ${text}`);
}

export function failed(error: unknown): void {
  console.log(`${PAD}${styleText('red', '✗')} ${error instanceof Error ? error.stack : error}`);
}

export function closing(text: string): void {
  console.log(`\n  ${styleText(['bold', 'green'], text)}\n`);
}
