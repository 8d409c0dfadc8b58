// The pages of the sandbox and what their forms do: the customer's page, the dashboard and faults.
import type { Hono } from 'hono/tiny';
import { ConfigurationError } from '../../errors.ts';
import { isForeign } from '../api/origin.ts';
import { STATUS } from '../control/define.ts';
import type { Parts } from '../parts.ts';
import { SandboxError } from '../sandbox-error.ts';
import { addCustomerPages } from './customer/routes.ts';
import { addDashboard } from './dashboard/routes.ts';
import { goTo, noticeResponse } from './layout.ts';

export function addPages(app: Hono, parts: Parts): void {
  const act = (path: string, run: Run) =>
    app.post(path, async ({ req }) => {
      if (isForeign(req.raw.headers)) {
        return noticeResponse('Refused', 'A page from elsewhere must not press the buttons of the sandbox.', 403);
      }
      const form = new URLSearchParams(await req.text());
      const done = await run(form, req.param('id') ?? '', new URL(req.url).origin);
      return typeof done === 'string' ? goTo(done) : done;
    });

  addCustomerPages(app, parts, act);

  addDashboard(app, parts, act);

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
