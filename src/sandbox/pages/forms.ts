// The forms of the pages. Most of the dashboard's call the control API, so that each action exists once.
import type { HonoRequest } from 'hono';
import type { Hono } from 'hono/tiny';
import { isForeign } from '../api/origin.ts';
import { PREFIX } from '../control/define.ts';
import { noticeResponse } from './layout.ts';

/** An answer, or the next address. */
type Next = Response | string;

type Run = (form: URLSearchParams, request: HonoRequest, origin: string) => Next | Promise<Next>;

export const addForm = (app: Hono, path: string, run: Run) =>
  app.post(path, async ({ req }) => {
    if (isForeign(req.raw))
      return noticeResponse('Refused', 'A page from elsewhere must not press the buttons of the sandbox.', 403);
    const done = await run(new URLSearchParams(await req.text()), req, new URL(req.url).origin);
    return typeof done === 'string' ? new Response(null, { status: 303, headers: { location: done } }) : done;
  });

/** `/forms/PUT/clock` is a call of the control API. */
export const addCalls = (app: Hono) =>
  addForm(app, '/forms/:method{POST|PUT|DELETE}/*', async (form, request) => {
    const method = request.param('method') ?? '';
    const path = request.path.slice(`/forms/${method}`.length);
    const init = { method, body: JSON.stringify(fieldsOf(form)) };
    const response = await app.fetch(new Request(new URL(PREFIX + path, request.url), init));
    const { message, id } = JSON.parse((await response.text()) || '{}');
    if (!response.ok) return noticeResponse('That did not work', message, response.status);
    if (path === '/reset') return '/';
    return path.endsWith('/redeliver') ? `/deliveries/${id}` : backOf(request);
  });

const NUMBERS = ['amount', 'count', 'probability'];

/** Returns the fields in the types of the control API. Empty ones get their defaults. */
function fieldsOf(form: URLSearchParams) {
  const typed = (name: string, text: string) =>
    name === 'force' || (NUMBERS.includes(name) ? Number(text) : text.replaceAll('\r\n', '\n'));
  return Object.fromEntries([...form].filter(([, text]) => text).map(([name, text]) => [name, typed(name, text)]));
}

export function backOf(request: HonoRequest) {
  const from = URL.parse(request.header('referer') ?? '');
  return from?.origin === new URL(request.url).origin ? from.pathname + from.search : '/';
}
