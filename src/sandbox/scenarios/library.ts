// The built-in scenarios, as the text of their files.
import { hintAt } from '../../schemas/hints.ts';
import { SandboxError } from '../sandbox-error.ts';
import callbackDelayed from './library/callback-delayed.yaml?raw';
import callbackDuplicated from './library/callback-duplicated.yaml?raw';
import callbackFirst from './library/callback-first.yaml?raw';
import callbackForged from './library/callback-forged.yaml?raw';
import callbackLost from './library/callback-lost.yaml?raw';
import callbackNotJson from './library/callback-not-json.yaml?raw';
import callbackReordered from './library/callback-reordered.yaml?raw';
import depositAuthorized from './library/deposit-authorized.yaml?raw';
import depositAuthorizedFailed from './library/deposit-authorized-failed.yaml?raw';
import depositCanceled from './library/deposit-canceled.yaml?raw';
import depositCompleted from './library/deposit-completed.yaml?raw';
import depositDeclined from './library/deposit-declined.yaml?raw';
import depositFailed from './library/deposit-failed.yaml?raw';
import lookupFails from './library/lookup-fails.yaml?raw';
import onrampCompleted from './library/onramp-completed.yaml?raw';
import payidCompleted from './library/payid-completed.yaml?raw';
import withdrawalCompleted from './library/withdrawal-completed.yaml?raw';
import withdrawalFailed from './library/withdrawal-failed.yaml?raw';

const ALL = {
  'deposit-completed': depositCompleted,
  'deposit-authorized': depositAuthorized,
  'deposit-declined': depositDeclined,
  'deposit-failed': depositFailed,
  'deposit-canceled': depositCanceled,
  'deposit-authorized-failed': depositAuthorizedFailed,
  'payid-completed': payidCompleted,
  'onramp-completed': onrampCompleted,
  'withdrawal-completed': withdrawalCompleted,
  'withdrawal-failed': withdrawalFailed,
  'callback-duplicated': callbackDuplicated,
  'callback-reordered': callbackReordered,
  'callback-delayed': callbackDelayed,
  'callback-lost': callbackLost,
  'callback-first': callbackFirst,
  'callback-forged': callbackForged,
  'callback-not-json': callbackNotJson,
  'lookup-fails': lookupFails,
};

/** The name of a built-in scenario. */
export type ScenarioName = keyof typeof ALL;

/** The files by name. */
export const LIBRARY: Readonly<Record<ScenarioName, string>> = ALL;

export const SCENARIO_NAMES = Object.keys(ALL) as ScenarioName[];

/** Returns the sentence with which each file begins. */
export const doesOf = (text: string): string => /^does: (.+)/m.exec(text)?.[1] ?? '';

/** @throws {SandboxError} `unknown_scenario` */
export function textOf(name: string): string {
  if (Object.hasOwn(ALL, name)) return ALL[name as ScenarioName];
  throw new SandboxError(
    'unknown_scenario',
    `No scenario is called ${JSON.stringify(name)}. ${hintAt(name, SCENARIO_NAMES)}`,
  );
}
