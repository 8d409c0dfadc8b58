// The operator's commands: list and settle doubts, list and close reviews, show a reference.
import { type Command, Option } from 'commander';
import { GatewayClient } from '../client.ts';
import { doubts, find } from '../payments/references.ts';
import { resolveReview, reviews } from '../payments/reviews.ts';
import { isPaymentId } from '../schemas/id.ts';
import { DIFFERENCES, type Difference } from '../schemas/records/matching.ts';
import type { SqlStoreOptions } from '../sql/store.ts';
import type { Store } from '../store/contract.ts';
import { CommandError, endWith, integer, LOOK } from '../terminal/program.ts';
import { open } from './open.ts';
import { doubtsTable, entryText, reviewsTable } from './print.ts';

/** @returns a value for `--json`, a text for people, and whether a person must check something */
type Work = (store: Store, args: string[], despite?: Difference[]) => Promise<[object, string, boolean?]>;

export function addStoreCommands(program: Command) {
  const placeOption = (flags: string, about: string, name: string) =>
    new Option(flags, about).env(`PAYMENT_GATEWAY_${name}`);
  const add = (usage: string, about: string, work: Work) => {
    const command = program
      .command(usage)
      .description(about)
      .addOption(placeOption('--scope <scope>', "the scope of your app's store", 'SCOPE').makeOptionMandatory())
      .addOption(placeOption('--table-prefix <prefix>', 'its tablePrefix (default: payment_gateway)', 'TABLE_PREFIX'))
      .addOption(placeOption('--settle-margin <ms>', 'its settleMargin', 'SETTLE_MARGIN').argParser(integer(0)))
      .option('--json', 'print JSON');
    return command.action(() => runInStore(command, work));
  };
  add('doubts', 'lists creates in doubt; exit code 1 if one is not running any more', async store => {
    const value = await doubts(store);
    return [value, doubtsTable(value, store.scope), value.some(({ underWay }) => !underWay)];
  });
  add('show <reference>', "shows the store's entry of a reference; exit code 1 if it has none", show);
  add(
    'settle <reference> <id|not_created>',
    "records the support's answer about a create in doubt: the UUID of its payment, or not_created",
    settle,
  ).addOption(new Option('--despite <names...>', 'fields in which the payment may differ').choices(DIFFERENCES));
  add('reviews', 'lists payments for review; exit code 1 if there are any', async store => {
    const value = await reviews(store);
    return [value, reviewsTable(value, store.scope), value.length > 0];
  });
  add(
    'resolve <id> <status>',
    'closes a review, after a person has acted on it',
    async (store, [id = '', status = '']) => {
      await resolveReview(store, id, status);
      return [{ id, status }, `The review of ${id} with status ${status} is closed.`];
    },
  );
}

async function runInStore(command: Command, work: Work) {
  const { json, despite, ...place } = command.opts<SqlStoreOptions & { json?: true; despite?: Difference[] }>();
  const { store, close } = open(place);
  try {
    const { row } = await store.read({ kind: 'gateway', id: '' });
    // A mistyped scope must not look as if nothing were wrong.
    if (!row) throw nothingIn(`No gateway was ever used in scope ${store.scope}.`);
    const [value, text, isOpen] = await work(store, command.args, despite);
    console.log(json ? JSON.stringify(value, null, 2) : text);
    endWith(isOpen ? LOOK : 0);
  } finally {
    await close();
  }
}

const nothingIn = (message: string) => new CommandError(`${message} Pass your app's --scope and --table-prefix.`, LOOK);

const show: Work = async (store, [reference = '']) => {
  const value = await find(store, reference);
  if (!value) throw nothingIn(`The store has no reference ${JSON.stringify(reference)} in scope ${store.scope}.`);
  return [value, entryText(value)];
};

const settle: Work = async (store, [reference = '', answer = ''], despite) => {
  if (answer !== 'not_created' && !isPaymentId(answer)) {
    throw new CommandError(
      `${JSON.stringify(answer)} is not a payment id: pass the UUID from the gateway's support, or not_created.`,
    );
  }
  await new GatewayClient({ store }).settle(reference, answer, { despite });
  return show(store, [reference]);
};
