// Writes what happened to a payment as a test that a merchant keeps: its scenario, and where to put the handler.
import { isFinalStatus } from '../../schemas/methods.ts';
import { printable } from '../../terminal/printable.ts';
import type { Delivery } from '../callbacks/delivery.ts';
import { withoutQuery } from '../callbacks/post.ts';
import type { SandboxEvent } from '../event-bus.ts';
import { isCallbackFault, isCreateFault } from '../faults/kinds.ts';
import type { Parts } from '../parts.ts';
import type { FaultStep, MoveStep, Scenario, Step } from './format.ts';
import { literal } from './literal.ts';

const IMPORTS = [
  ['payment-gateway-sdk', 'createWebhookHandler, GatewayClient'],
  ['payment-gateway-sdk/sandbox', 'Sandbox'],
  ['vitest', 'expect, test'],
] as const;

/** @throws {SandboxError} `unknown_payment` */
export function exportTest(parts: Parts, id: string): string {
  const { ledger, callbacks, settings } = parts;
  const payment = ledger.get(id);
  const deliveries = callbacks.ofPayment(payment.id).reverse();
  const scenario = scenarioOf(parts, payment.id, deliveries);
  const { terminal, payid, shape } = settings;
  const options = [
    terminal !== 'standard' && `terminal: '${terminal}', `,
    payid !== 'host-to-host' && `payid: '${payid}', `,
    shape !== 'wrapped' && `shape: '${shape}', `,
  ].filter(Boolean);
  const name = `${payment.reference ?? payment.id} is ${payment.paymentStatus}`;
  const answers = deliveries.map(
    ({ paymentStatus, status, error }, index) =>
      `// ${index + 1}. ${paymentStatus}: ${status ?? printable(error ?? 'under way')}`,
  );
  const imports = IMPORTS.map(([from, names]) => `import { ${names} } from ${literal(from)};`);
  // A token in it is of another key.
  const to = withoutQuery(ledger.callbackUrlOf(payment.id));
  return `// What happened to payment ${payment.id} in the sandbox. How its callbacks were answered then:
${answers.join('\n') || '// It had none.'}
${imports.join('\n')}

// Put your own handler here: a function from a Request to a Response, over this client.
const handlerOver = (gateway: GatewayClient) => createWebhookHandler({ gateway, onPayment: () => {} });

test(${literal(name)}, async () => {
  const sandbox: Sandbox${terminal === 'standard' ? '' : `<'${terminal}'>`} = new Sandbox({ ${options.join('')}fetch: (url, init) => handler(new Request(url, init)) });
  const handler = handlerOver(new GatewayClient(sandbox.clientOptions));
  const { problems, payment } = await sandbox.play(
    ${literal(scenario, '    ')},
    { to: ${literal(to)} },
  );
  expect(problems).toEqual([]); // every callback is taken, and no forged one is believed
  expect(payment.paymentStatus).toBe(${literal(payment.paymentStatus)});
});
`;
}

const MOVES: Readonly<Record<string, MoveStep['move']>> = {
  COMPLETED: 'complete',
  AUTHORIZED: 'authorize',
  CANCELED: 'cancel',
  FAILED: 'fail',
};

/** Its create and its steps; what is usual of each callback is expected. */
function scenarioOf({ ledger, history, calls }: Parts, id: string, deliveries: readonly Delivery[]): Scenario {
  const { webhookUrl, callbackUrl, reference, ...request } = ledger.requestOf(id);
  const { paymentStatus } = ledger.get(id);
  const fault = calls.creationOf(id)?.fault;
  const createFault = fault && isCreateFault(fault) ? fault : undefined;
  const events = history.ofPayment(id);
  // That fault completes the payment by itself.
  if (createFault === 'callback-first') {
    events.splice(
      events.findIndex(({ type }) => type === 'move'),
      1,
    );
  }
  return {
    create: { ...(request as Scenario['create']), ...(reference && { reference }) },
    ...(createFault && { createFault }),
    steps: stepsOf(events, deliveries),
    expect: { paymentStatus },
  };
}

function stepsOf(events: readonly SandboxEvent[], deliveries: readonly Delivery[]): Step[] {
  const steps: Step[] = [];
  const isPosted = (fault: string) => deliveries.some(delivery => delivery.fault === fault);
  let waited = 0;
  /** Where the faults of the latest move go: before it. */
  let before = 0;
  const arm = (fault: FaultStep['fault'], ms?: number) => {
    const same = steps.slice(before).find((step): step is FaultStep => 'fault' in step && step.fault === fault);
    if (same) same.count = (same.count ?? 1) + 1;
    else steps.splice(afterFaults(steps, before), 0, { fault, ms });
  };
  for (const event of events) {
    if (event.type === 'move') {
      before = steps.length;
      const { from, paymentStatus, errorMessage: reason } = event;
      const step: MoveStep = { move: MOVES[paymentStatus] ?? 'complete' };
      steps.push({ ...step, reason, ...(isFinalStatus(from) && { force: true }) });
    } else if (event.type === 'request') {
      const { method, fault } = event;
      if (method === 'GET' && fault && !isCallbackFault(fault) && !isCreateFault(fault)) arm(fault);
    } else if (event.type === 'callback-waits') {
      if (!event.fault || !isPosted(event.fault)) continue;
      const ms = event.due === undefined ? undefined : wholeOf(event.due - event.at);
      waited = Math.max(waited, ms ?? 0);
      arm(event.fault, ms);
    } else if (event.type === 'callback') {
      steps.push(...after(event.delivery, deliveries, waited));
      if (event.delivery.fault && !WAITING.has(event.delivery.fault)) arm(event.delivery.fault);
    }
  }
  return steps;
}

/** Where the next one goes: faults keep the order in which they were met. */
function afterFaults(steps: readonly Step[], from: number): number {
  const next = steps.findIndex((step, index) => index >= from && !('fault' in step));
  return next < 0 ? steps.length : next;
}

/** Some of the delay has passed until it is told of. */
const wholeOf = (ms: number): number => Math.ceil(ms / 10) * 10;

/** Faults that are told of when the callback begins to wait. */
const WAITING: ReadonlySet<string> = new Set(['callback-delay', 'callback-reorder']);

/** What made this callback come, beside a move. */
function after({ fault, repeats, isEdited, body }: Delivery, all: readonly Delivery[], waited: number): Step[] {
  if (fault === 'callback-delay') return [{ advance: waited }];
  const redeliver = all.findIndex(({ id }) => id === repeats) + 1;
  return redeliver > 0 ? [{ redeliver, ...(isEdited && { body }) }] : [];
}
