// Handles the forms of the pages, and refuses those that other sites send.
import type { Hono } from 'hono/tiny';
import { isForeign } from '../api/origin.ts';
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
