// What a refused request tells its author: which field was meant, and which method goes where.
import { DEPOSIT_METHODS, ONRAMP_METHODS, WITHDRAWAL_METHODS } from './methods.ts';

/** Names the unknown fields, the ones probably meant, and the way to send a field that the SDK does not know. */
export function unknownFields(unknown: readonly string[], known: Iterable<string>): string {
  const names = [...known];
  const described = unknown.map(field => {
    const meant = names.find(name => isSlip(field, name));
    return meant ? `"${field}" (did you mean "${meant}"?)` : `"${field}"`;
  });
  return `unknown field ${described.join(', ')}; to send one this SDK does not know, use the call option \`extra\``;
}

/** Says where the given method belongs, if the gateway has it at all, and lists what is accepted here. */
export function wrongMethod(given: unknown, accepted: readonly unknown[]): string {
  return `${whereItBelongs(given)}; accepted here: ${accepted.join(', ')}`;
}

function whereItBelongs(given: unknown): string {
  const isOneOf = (methods: readonly unknown[]) => methods.includes(given);
  if (given === undefined) return 'is missing';
  if (given === 'OPENBANKING') return 'OPENBANKING is a method of createNftPurchase alone';
  if (isOneOf(ONRAMP_METHODS))
    return `${given} needs an on-ramp terminal: new GatewayClient({ terminal: 'onramp' })`;
  if (isOneOf(WITHDRAWAL_METHODS) && !isOneOf(DEPOSIT_METHODS)) return `${given} is a method of withdrawals`;
  if (isOneOf(DEPOSIT_METHODS) && !isOneOf(WITHDRAWAL_METHODS)) return `${given} is a method of deposits`;
  return 'is not a method of this kind of payment';
}

/** One letter too many, too few, wrong or swapped, or other capitals. */
function isSlip(given: string, known: string): boolean {
  const [a, b] = [given.toLowerCase(), known.toLowerCase()];
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  const restA = a.slice(start);
  const restB = b.slice(start);
  const swapped = restA.length > 1 && restA[0] === restB[1] && restA[1] === restB[0];
  return (
    restA === restB ||
    restA.slice(1) === restB ||
    restA === restB.slice(1) ||
    restA.slice(1) === restB.slice(1) ||
    (swapped && restA.slice(2) === restB.slice(2))
  );
}
