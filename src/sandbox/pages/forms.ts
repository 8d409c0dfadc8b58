// The forms of the pages. Those of the dashboard are calls of the control API, so that each action exists once.
import type { Hono } from 'hono/tiny';
import { isForeign } from '../api/origin.ts';
import { PREFIX } from '../control/define.ts';
import { noticeResponse } from './layout.ts';

/** The action of a form. It returns an answer or the next address. @param id of the form's address, if any */
type Run = (form: URLSearchParams, id: string, request: Request) => string | Response | Promise<string | Response>;

export type AddForm = (path: string, run: Run) => void;

export const formsOf =
  (app: Hono): AddForm =>
  (path, run) =>
    void app.post(path, async ({ req }) => {
      if (isForeign(req.raw)) {
        return noticeResponse('Refused', 'A page from elsewhere must not press the buttons of the sandbox.', 403);
      }
      const done = await run(new URLSearchParams(await req.text()), req.param('id') ?? '', req.raw);
      return typeof done === 'string' ? new Response(null, { status: 303, headers: { location: done } }) : done;
    });

const FORMS = '/forms';

/** Returns the address of a form that makes a call of the control API: `PUT /clock`. A field can fill a `:part`. */
export const actionOf = (call: string): string => `${FORMS}/${call.replace(' ', '')}`;

/** The fields of answers that lead to another page. */
interface Answer {
  message?: string;
  id?: number;
  payment?: { id: string };
}

export const addCalls = (app: Hono, addForm: AddForm): void =>
  addForm(`${FORMS}/:method{POST|PUT|DELETE}/*`, async (form, _, request) => {
    const { url } = request;
    const [method = '', ...parts] = new URL(url).pathname.slice(FORMS.length + 1).split('/');
    const fields = fieldsOf(form);
    const path = `/${parts.join('/')}`.replace(/:(\w+)/, (_, name) => {
      const { [name]: part } = fields;
      delete fields[name];
      return encodeURIComponent(String(part));
    });
    const call = new Request(new URL(PREFIX + path, url), { method, body: JSON.stringify(fields) });
    const response = await app.fetch(call);
    const answer: Answer = response.status === 204 ? {} : ((await response.json()) as Answer);
    if (!response.ok) return noticeResponse('That did not work', answer.message ?? '', response.status);
    return placeOf(path, answer) ?? backOf(request);
  });

const NUMBERS = ['amount', 'count', 'probability'];

/** Returns the fields of a form in the types of the control API. Empty ones get their defaults. */
function fieldsOf(form: URLSearchParams): Record<string, unknown> {
  const typed = (name: string, text: string) =>
    name === 'force' || (NUMBERS.includes(name) ? Number(text) : text.replaceAll('\r\n', '\n'));
  return Object.fromEntries([...form].filter(([, text]) => text).map(([name, text]) => [name, typed(name, text)]));
}

function placeOf(path: string, { id, payment }: Answer): string | undefined {
  if (path === '/reset') return '/';
  if (payment) return `/payments/${payment.id}`;
  return path.endsWith('/redeliver') ? `/deliveries/${id}` : undefined;
}

/** Returns the page that sent the form. */
export function backOf({ headers, url }: Request): string {
  const from = URL.parse(headers.get('referer') ?? '');
  return from?.origin === new URL(url).origin ? from.pathname + from.search : '/';
}
