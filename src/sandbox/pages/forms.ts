// The forms of the pages. Those of the dashboard are calls of the control API, so that each action exists once.
import type { HonoRequest } from 'hono';
import type { Hono } from 'hono/tiny';
import { isForeign } from '../api/origin.ts';
import { PREFIX } from '../control/define.ts';
import { noticeResponse } from './layout.ts';

type Run = (form: URLSearchParams, request: HonoRequest) => Response | string | Promise<Response | string>;

/** Adds the action of a form, which returns an answer or the next address. */
export const addForm = (app: Hono, path: string, run: Run): void =>
  void app.post(path, async ({ req }) => {
    if (isForeign(req.raw)) {
      return noticeResponse('Refused', 'A page from elsewhere must not press the buttons of the sandbox.', 403);
    }
    const done = await run(new URLSearchParams(await req.text()), req);
    return typeof done === 'string' ? new Response(null, { status: 303, headers: { location: done } }) : done;
  });

/** The forms that make a call of the control API: `/forms/PUT/clock`. */
export const FORMS = '/forms';

export const addCalls = (app: Hono): void =>
  addForm(app, `${FORMS}/:method{POST|PUT|DELETE}/*`, async (form, request) => {
    const method = request.param('method') ?? '';
    const path = request.path.slice(`${FORMS}/${method}`.length);
    const call = new Request(new URL(PREFIX + path, request.url), { method, body: JSON.stringify(fieldsOf(form)) });
    const response = await app.fetch(call);
    const { message = '', id }: { message?: string; id?: number } = JSON.parse((await response.text()) || '{}');
    if (!response.ok) return noticeResponse('That did not work', message, response.status);
    if (path === '/reset') return '/';
    return path.endsWith('/redeliver') ? `/deliveries/${id}` : backOf(request);
  });

const NUMBERS = ['amount', 'count', 'probability'];

/** Returns the fields of a form in the types of the control API. Empty ones get their defaults. */
function fieldsOf(form: URLSearchParams): Record<string, unknown> {
  const typed = (name: string, text: string) =>
    name === 'force' || (NUMBERS.includes(name) ? Number(text) : text.replaceAll('\r\n', '\n'));
  return Object.fromEntries([...form].filter(([, text]) => text).map(([name, text]) => [name, typed(name, text)]));
}

/** Returns the page that sent the form. */
export function backOf(request: HonoRequest): string {
  const from = URL.parse(request.header('referer') ?? '');
  return from?.origin === new URL(request.url).origin ? from.pathname + from.search : '/';
}
