// Forms of the pages: what pages from elsewhere must not send.
import type { Hono } from 'hono/tiny';
import { isForeign } from '../api/origin.ts';
import { goTo, noticeResponse } from './layout.ts';

/** What was filled in. */
export type Form = URLSearchParams;

/** What a form does. @param id of the address, if it has one; a text is the address to go on to */
type Run = (form: Form, id: string, origin: string) => string | Response | Promise<string | Response>;

/** Adds a form at an address. */
export type AddForm = (path: string, run: Run) => void;

export const formsOf =
  (app: Hono): AddForm =>
  (path, run) =>
    void app.post(path, async ({ req }) => {
      if (isForeign(req.raw.headers)) {
        return noticeResponse('Refused', 'A page from elsewhere must not press the buttons of the sandbox.', 403);
      }
      const form = new URLSearchParams(await req.text());
      const done = await run(form, req.param('id') ?? '', new URL(req.url).origin);
      return typeof done === 'string' ? goTo(done) : done;
    });
