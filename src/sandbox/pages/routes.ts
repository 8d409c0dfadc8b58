// The pages of the sandbox and what their forms do: the customer's page, the dashboard and faults.
import type { Hono } from 'hono/tiny';
import { ConfigurationError } from '../../errors.ts';
import { isFinalStatus } from '../../schemas/methods.ts';
import { printable } from '../../terminal/printable.ts';
import { isForeign } from '../api/origin.ts';
import { STATUS } from '../control/define.ts';
import type { EventBus, SandboxEvent } from '../event-bus.ts';
import { type Fault, isCallbackFault, isCreateFault, isFault, type Operation } from '../faults/kinds.ts';
import type { Parts } from '../parts.ts';
import { SandboxError } from '../sandbox-error.ts';
import { ACTS, CHOICES, checkout, DECLINES, returnUrlOf } from './checkout.ts';
import { dashboard } from './dashboard.ts';
import { paymentPage } from './dashboard-payment.ts';
import { goTo, noticeResponse, pageResponse } from './layout.ts';
import liveScript from './live.js?raw';
import style from './style.css?raw';

/** Payments on a page of the dashboard. */
const PAGE = 50;

export function addPages(app: Hono, parts: Parts): void {
  const { settings, ledger, callbacks, calls, moves, faults, events } = parts;

  app.get('/sandbox.css', () => asset(style, 'text/css'));
  app.get('/sandbox.js', () => asset(liveScript, 'text/javascript'));
  app.get('/live', ({ req }) => (req.method === 'HEAD' ? new Response() : stream(events)));

  app.get('/', ({ req }) => {
    const pages = Math.max(Math.ceil(ledger.size / PAGE), 1);
    const page = Math.min(Math.max(Number.parseInt(req.query('page') ?? '1', 10) || 1, 1), pages);
    const main = dashboard({
      origin: new URL(req.url).origin,
      settings,
      payments: ledger.search({}).slice((page - 1) * PAGE, page * PAGE),
      total: ledger.size,
      page,
      pages,
      armed: faults.armed,
      requests: calls.latest.slice(0, 12),
      find: id => ledger.find(id),
      deliveries: callbacks.deliveries.slice(-12).reverse(),
    });
    return pageResponse({ title: 'Payments', main, isLive: true });
  });

  app.get('/payments/:id', ({ req }) => {
    const record = ledger.get(req.param('id'));
    const main = paymentPage(record, calls.creationOf(record.id), callbacks.ofPayment(record.id).slice(0, PAGE));
    return pageResponse({ title: record.reference || record.id, main, isLive: true });
  });

  app.get('/pay/:id', ({ req }) => {
    const id = req.param('id');
    return pageResponse({ ...checkout(payPageOf(id), ledger.requestOf(id)), isNarrow: true });
  });

  const act = (path: string, run: (form: Form, id: string) => string | Response | Promise<string | Response>) =>
    app.post(path, async ({ req }) => {
      if (isForeign(req.raw.headers)) {
        return noticeResponse('Refused', 'A page from elsewhere must not press the buttons of the sandbox.', 403);
      }
      const done = await run(new URLSearchParams(await req.text()), req.param('id') ?? '');
      return typeof done === 'string' ? goTo(done) : done;
    });

  const payPageOf = (id: string) => {
    const record = ledger.get(id);
    if (record.paymentType === 'DEPOSIT') return record;
    throw new SandboxError('unknown_payment', `Payment ${id} is a withdrawal: no customer pays it.`);
  };

  act('/pay/:id', (form, id) => {
    const { paymentMethod, paymentStatus } = payPageOf(id);
    const next = returnUrlOf(ledger.requestOf(id)) ?? `/pay/${id}`;
    const doing = ACTS[form.get('act') ?? ''];
    if (!doing) throw new SandboxError('refused', 'act must be pay, authorize, decline or abandon.');
    // A second click, or a page gone stale: the customer goes where the first one led.
    if (isFinalStatus(paymentStatus)) return next;
    const chosen = form.get('method') ?? '';
    if (paymentMethod === 'USER_CHOICE' && doing !== ACTS.abandon && CHOICES.includes(chosen)) {
      ledger.choose(id, chosen);
    }
    doing(moves, id, form);
    return next;
  });

  act('/payments/:id', (form, id) => {
    const force = form.has('force');
    switch (form.get('move')) {
      case 'complete':
        moves.complete(id, { force });
        break;
      case 'authorize':
        moves.authorize(id, { force });
        break;
      case 'cancel':
        moves.cancel(id, { force });
        break;
      case 'fail':
        moves.fail(id, { ...DECLINES[form.get('reason') ?? '']?.reason, force });
        break;
      default:
        throw new SandboxError('refused', 'move must be complete, authorize, cancel or fail.');
    }
    return `/payments/${id}`;
  });

  act('/deliveries/:id', async (_, id) => {
    const { paymentId } = await callbacks.redeliver(Number(id));
    return `/payments/${paymentId}`;
  });

  act('/faults', form => {
    if (form.get('act') === 'clear') faults.clear();
    else {
      const fault = form.get('fault') as Fault;
      const ms = form.get('ms');
      const on = form.get('on') as Operation | null;
      // The form of one fault is that of all: what does not belong to this one is left out.
      const isOfCalls = isFault(fault) && !isCallbackFault(fault) && !isCreateFault(fault);
      faults.next(fault, { ...(on && isOfCalls && { on }), ...(ms && { ms: Number(ms) }) });
    }
    return '/';
  });

  act('/reset', () => {
    parts.reset();
    return '/';
  });

  app.onError((error, { req }) => {
    // Anything else that a route throws breaks its connection on purpose.
    if (!(error instanceof SandboxError || error instanceof ConfigurationError) || req.path.startsWith('/api/'))
      throw error;
    const status = error instanceof SandboxError ? STATUS[error.code] : 422;
    if (!req.header('accept')?.includes('text/html')) return new Response(error.message, { status });
    return noticeResponse('That did not work', error.message, status);
  });
  app.notFound(({ req }) =>
    req.header('accept')?.includes('text/html')
      ? noticeResponse('Not found', 'The sandbox has no such page.', 404)
      : Response.json({ message: 'Not found.' }, { status: 404 }),
  );
}

type Form = URLSearchParams;

const asset = (text: string, type: string) =>
  new Response(text, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    },
  });

/** What a screen reader announces: nothing of what only changes the page. */
const newsOf = (event: SandboxEvent): string =>
  event.type === 'move' ? `${printable(event.reference || event.paymentId)} is ${event.paymentStatus}` : '';

/** Server-sent events: one for each thing that happens. */
function stream(events: EventBus): Response {
  const encoder = new TextEncoder();
  let unsubscribe = () => {};
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(encoder.encode(': hello\n\n'));
      unsubscribe = events.subscribe(event => controller.enqueue(encoder.encode(`data: ${newsOf(event)}\n\n`)));
    },
    cancel: () => unsubscribe(),
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
}
