// The pages of the sandbox and what their forms do: the customer's page, the dashboard, faults and scenarios.
import type { Hono } from 'hono/tiny';
import { ConfigurationError } from '../../errors.ts';
import { isFinalStatus } from '../../schemas/methods.ts';
import { isForeign } from '../api/origin.ts';
import { STATUS } from '../control/define.ts';
import type { Parts } from '../parts.ts';
import { SandboxError } from '../sandbox-error.ts';
import { isScenario, play, SCENARIOS } from '../scenarios.ts';
import { ACTS, CHOICES, checkout, returnUrlOf } from './checkout.ts';
import { addDashboard } from './dashboard/routes.ts';
import { asset, goTo, noticeResponse, pageResponse } from './layout.ts';
import style from './style.css?raw';

export function addPages(app: Hono, parts: Parts): void {
  const { settings, ledger, moves } = parts;

  app.get('/sandbox.css', () => asset(style, 'text/css'));

  app.get('/pay/:id', ({ req }) => {
    const id = req.param('id');
    return pageResponse({ ...checkout(payPageOf(id), ledger.requestOf(id)), isNarrow: true });
  });

  const act = (path: string, run: Run) =>
    app.post(path, async ({ req }) => {
      if (isForeign(req.raw.headers)) {
        return noticeResponse('Refused', 'A page from elsewhere must not press the buttons of the sandbox.', 403);
      }
      const form = new URLSearchParams(await req.text());
      const done = await run(form, req.param('id') ?? '', new URL(req.url).origin);
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

  addDashboard(app, parts, act);

  app.post('/scenarios/:name', async ({ req }) => {
    if (isForeign(req.raw.headers))
      return new Response('This request came from another site and was refused.', { status: 403 });
    const name = req.param('name');
    if (!isScenario(name)) {
      throw new SandboxError(
        'refused',
        `No scenario is called ${name}. There are: ${Object.keys(SCENARIOS).join(', ')}.`,
      );
    }
    const webhookUrl = new URLSearchParams(await req.text()).get('to') ?? settings.forwardTo;
    if (!webhookUrl) {
      throw new SandboxError(
        'refused',
        'Callbacks have nowhere to go: start the sandbox with --forward-to, or pass --to.',
      );
    }
    return Response.json(await play(parts, name, new URL(req.url).origin, webhookUrl));
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
type Run = (form: Form, id: string, origin: string) => string | Response | Promise<string | Response>;
