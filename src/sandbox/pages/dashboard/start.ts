// Three ways to a first payment: a story, a form, and the environment of an app.
import { html } from 'hono/html';
import { environmentOf } from '../../environment.ts';
import type { Parts } from '../../parts.ts';
import { SCENARIOS } from '../../scenarios/library.ts';
import { play, readPlayOptions } from '../../scenarios/play.ts';
import { RESULTS, type Report, summaryOf, testServer } from '../../scenarios/report.ts';
import { type Html, nameOf, pill, sent, type Tone } from '../layout.ts';
import { createForm, USUAL_ADDRESS } from './create.ts';
import { cards, formOf, type Notice, type Page, rawText, type View } from './view.ts';

/** Plays a scenario, or all of them. @returns a description */
export async function playStory(parts: Parts, form: URLSearchParams, origin: string): Promise<Notice> {
  const stage = { ...readPlayOptions({ to: form.get('to') || undefined }), origin };
  if (form.has('all')) return reportCard(await testServer(parts, stage));
  const { payment, problems } = await play(parts, form.get('name') ?? '', stage);
  const link = html`<a href="/payments/${payment.id}">${sent(nameOf(payment))}</a>`;
  const text = html`The story was played: ${link} is ${payment.paymentStatus}. ${problems.map(problem => html` ${sent(problem)}`)}`;
  return { text, tone: problems.length > 0 ? 'bad' : 'good' };
}

const TONES: Readonly<Record<Report['result'], Tone>> = { passed: 'good', failed: 'bad', unchecked: 'wait' };

type Tested = Report['scenarios'][number];
const worstFirst = (a: Tested, b: Tested) => RESULTS.indexOf(a.result) - RESULTS.indexOf(b.result);

const reportCard = (report: Report): Notice => ({
  tone: TONES[report.result],
  text: html`<b>Your server: ${report.result}.</b> ${summaryOf(report)}.
    <ul class="lines wrap">${report.scenarios.toSorted(worstFirst).map(
      ({ name, does, result, problems, paymentId }) =>
        html`<li>${pill({ tone: TONES[result], label: result })} <span class="what"><a href="/payments/${paymentId}">${name}</a> ${does}
        ${problems.map(problem => html`<span class="why">${sent(problem)}</span>`)}</span></li>`,
    )}</ul>`,
});

export const storyForm = (view: View): Html =>
  formOf(
    '/stories',
    html`<div class="field"><label for="story">Story</label>
      <select id="story" name="name">${SCENARIOS.map(({ name }) => html`<option>${name}</option>`)}</select></div>
    <div class="field grow"><label for="story-to">Callbacks go to</label>
      <input id="story-to" name="to" type="url" placeholder="${USUAL_ADDRESS}" value="${view.parts.settings.forwardTo ?? ''}"></div>
    <button class="primary" id="play">Play</button>
    <button name="all" value="yes" id="test-server">Test my server</button>`,
    'row',
  );

export const firstSteps = (
  view: View,
): Html => html`<p class="lead">No payment yet. Make the first one in one of three ways.</p>
  ${cards([
    [
      'Play a story',
      html`<p>Creates, pays and calls back a payment. To get its callback, say where your app listens.</p>${storyForm(view)}`,
    ],
    ['Create one', createForm(view)],
    ['Connect your app', html`<p>Paste this into its <code>.env</code>.</p>${environment(view)}`],
  ])}`;

export const createPage = (view: View): Page => ({
  title: 'Create a payment',
  main: html`<h1>Create a payment</h1>${cards([
    ['The payment', createForm(view)],
    ['Connect your app', environment(view)],
  ])}`,
});

/** The environment that connects an app to this sandbox. */
export const environment = ({ parts, url }: View): Html =>
  rawText('env', 'Environment of your app', environmentOf(url.origin, parts.settings).join('\n'));
