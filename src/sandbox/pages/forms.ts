// The forms of the pages. Those of the dashboard are calls of the control API, so that each action exists once.
import type { Hono } from 'hono/tiny';
import { isForeign } from '../api/origin.ts';
import { PREFIX } from '../control/define.ts';
import { noticeResponse } from './layout.ts';

type Next = string | Response;

/** Adds the action of a form, which returns an answer or the next address. */
export const addForm = (
  app: Hono,
  path: string,
  run: (form: URLSearchParams, request: Request, id: string) => Next | Promise<Next>,
): void =>
  void app.post(path, async ({ req }) => {
    if (isForeign(req.raw)) {
      return noticeResponse('Refused', 'A page from elsewhere must not press the buttons of the sandbox.', 403);
    }
    const done = await run(new URLSearchParams(await req.text()), req.raw, req.param('id') ?? '');
    return typeof done === 'string' ? new Response(null, { status: 303, headers: { location: done } }) : done;
  });

const FORMS = '/forms';

/** Returns the address of a form that makes a call of the control API: `PUT /clock`. */
export const actionOf = (call: string): string => `${FORMS}/${call.replace(' ', '')}`;

export const addCalls = (app: Hono): void =>
  addForm(app, `${FORMS}/:method{POST|PUT|DELETE}/*`, async (form, request) => {
    const { url } = request;
    const [method = '', ...parts] = new URL(url).pathname.slice(FORMS.length + 1).split('/');
    const path = `/${parts.join('/')}`;
    const call = new Request(new URL(PREFIX + path, url), { method, body: JSON.stringify(fieldsOf(form)) });
    const response = await app.fetch(call);
    const { message, id } =
      response.status === 204 ? {} : ((await response.json()) as { message?: string; id?: number });
    if (!response.ok) return noticeResponse('That did not work', message ?? '', response.status);
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
export function backOf({ headers, url }: Request): string {
  const from = URL.parse(headers.get('referer') ?? '');
  return from?.origin === new URL(url).origin ? from.pathname + from.search : '/';
}
