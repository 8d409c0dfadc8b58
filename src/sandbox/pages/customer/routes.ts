// The customer's page of a payment, and the acts of its forms.
import type { Hono } from 'hono/tiny';
import { isFinalStatus } from '../../../schemas/methods.ts';
import { isOnramp } from '../../ledger/ledger.ts';
import { move } from '../../ledger/moves.ts';
import type { Parts } from '../../parts.ts';
import { SandboxError } from '../../sandbox-error.ts';
import { addForm } from '../forms.ts';
import { ENDS } from './ends.ts';
import { customerPage } from './page.ts';
import { addressOf, viewOf } from './view.ts';

export function addCustomerPages(app: Hono, parts: Parts): void {
  const { ledger } = parts;

  app.get('/pay/:id', ({ req }) => customerPage(viewOf(parts, req, new URL(req.url).searchParams)));

  addForm(app, '/pay/:id', (form, request) => {
    const view = viewOf(parts, request, form);
    const { record, chosen, end: tested, isExpired, isRefused } = view;
    const act = form.get('act') ?? '';
    const acts = ['submit', 'quote', ...ENDS.keys()];
    if (!acts.includes(act)) throw new SandboxError('refused', `act must be one of ${acts.join(', ')}.`);
    const shop = view.shop ?? `/pay/${record.id}`;
    // A second click, or an outdated page.
    if (isFinalStatus(record.paymentStatus)) return shop;
    // The test controls send an amount, and need no quote.
    if ((act === 'submit' || act === 'pay') && isExpired && !form.has('amount')) return addressOf(view);
    if (act === 'quote' && !tested) {
      if (isOnramp(record)) ledger.renewQuote(record.id);
      return addressOf(view);
    }
    if (isRefused) return customerPage(view);
    const end = ENDS.get(act) ?? ENDS.get(tested);
    if (!end) return addressOf(view, { step: 'confirm' });
    const [, to, reason] = end;
    if (!to) return shop;
    if (chosen && record.paymentMethod === 'USER_CHOICE') ledger.choose(record.id, chosen);
    const amount = Number(form.get('amount') || record.amount);
    move(parts, record.id, to, to === 'complete' ? { amount } : reason);
    return shop;
  });
}
