// Describes the result of the last form. The address names the form, and the text comes from the current state.
import { html } from 'hono/html';
import type { Parts } from '../../parts.ts';
import type { Html } from '../layout.ts';
import { nameOf } from '../layout.ts';
import { moveNotice } from './moves.ts';
import { outcomeOfDelivery } from './outcome.ts';
import { sent, type View } from './view.ts';

/** Returns the unmet expectations of a scenario. */
const problemsOf = ({ log }: Parts, paymentId: string): Html[] =>
  log
    .timeline(paymentId)
    .flatMap(event => (event.type === 'scenario' ? event.problems : []))
    .map(problem => html` ${sent(problem)}`);

export function noticeOf({ url, parts, now }: View): Html | string | undefined {
  const done = url.searchParams.get('done') ?? '';
  const of = url.searchParams.get('of') ?? '';
  switch (done) {
    case 'moved':
    case 'reworded':
    case 'unchanged': {
      const record = parts.ledger.find(of);
      return record && moveNotice(done, record);
    }
    case 'played': {
      const record = parts.ledger.find(of);
      return (
        record &&
        html`The story was played: <a href="/payments/${record.id}">${sent(nameOf(record))}</a> is ${record.paymentStatus}. ${problemsOf(parts, record.id)}`
      );
    }
    case 'redelivered': {
      const delivery = parts.log.deliveries.find(Number(of));
      return (
        delivery &&
        html`<a href="/deliveries/${delivery.id}">Callback ${delivery.id}</a> was posted. ${outcomeOfDelivery(delivery).sentence ?? ''}`
      );
    }
    case 'armed': {
      const armed = parts.faults.armed.find(({ id }) => String(id) === of);
      return armed && html`<code>${armed.fault}</code> is armed.`;
    }
    case 'disarmed':
      return 'The fault is disarmed.';
    case 'cleared':
      return 'Every fault is disarmed.';
    case 'clock':
      return `The clock of the sandbox now shows ${new Date(now).toISOString().slice(0, 19).replace('T', ' ')} UTC.`;
    case 'reset':
      return 'The sandbox has forgotten everything.';
    default:
      return undefined;
  }
}
