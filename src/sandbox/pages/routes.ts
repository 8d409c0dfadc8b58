// The pages of the sandbox: the customer's and the dashboard.
import type { Hono } from 'hono/tiny';
import morph from 'idiomorph/dist/idiomorph.min.js?raw';
import { ConfigurationError } from '../../errors.ts';
import { PREFIX, problem, statusOf } from '../control/define.ts';
import { eventStream } from '../log/event-stream.ts';
import type { Parts } from '../parts.ts';
import { SandboxError } from '../sandbox-error.ts';
import { addCustomerPages } from './customer/routes.ts';
import { addDashboard } from './dashboard/routes.ts';
import { addCalls } from './forms.ts';
import { answer, noticeResponse } from './layout.ts';
import style from './pages.css?raw';
import script from './pages.js?raw';

export function addPages(app: Hono, parts: Parts): void {
  app.get('/pages.css', () => answer(style, 'text/css'));
  app.get('/pages.js', () => answer(`${morph}\n${script}`, 'text/javascript'));
  // Reports only that something happened.
  app.get('/live', () => eventStream(parts.log, 'text/event-stream', () => 'data: \n\n'));
  addCustomerPages(app, parts);
  addDashboard(app, parts);
  addCalls(app);

  app.onError((error, { req }) => {
    const code = error instanceof SandboxError ? error.code : error instanceof ConfigurationError && 'invalid';
    // Any other error breaks the connection on purpose.
    if (!code || req.path.startsWith('/api/')) throw error;
    if (req.path.startsWith(PREFIX)) return problem(code, error.message);
    return noticeResponse('That did not work', error.message, statusOf(code));
  });
  app.notFound(({ req }) =>
    req.header('accept')?.includes('text/html')
      ? noticeResponse('Not found', 'The sandbox has no such page.', 404)
      : Response.json({ message: 'Not found.' }, { status: 404 }),
  );
}
