// Three ways to a payment: a scenario, a form and an app. And the report card of a server.
import { html } from 'hono/html';
import { SCENARIOS } from '../../scenarios/library.ts';
import { RESULTS, type Report, summaryOf } from '../../scenarios/report.ts';
import { environmentOf } from '../../text/environment.ts';
import { badge, input, select, sent } from '../layout.ts';
import { createForm, USUAL_ADDRESS } from './create.ts';
import { cards, rawText, type View } from './view.ts';

const NAMES = SCENARIOS.map(({ name }) => name);

const scenarioForm = ({ settings }: View) => html`<form method="post" action="/play" class="row">
    ${select('name', 'Scenario', NAMES)}
    ${input('to', 'Your callback address', { type: 'url', placeholder: USUAL_ADDRESS, value: settings.forwardTo }, 'grow')}
    <button class="primary" id="play">Play</button>
    <button formaction="/report" id="test-server">Test my server</button>
  </form>`;

export const createPage = (view: View) => ({
  title: 'Create a payment',
  main: html`<h1>Create a payment</h1>
  ${view.ledger.size === 0 && html`<p class="lead">No payment yet. Make the first one in one of three ways.</p>`}
  ${cards({
    'Play a scenario': html`<p>Creates, pays and calls back a payment. To get its callback, say where your app listens.</p>${scenarioForm(view)}`,
    'Create one': createForm(view),
    'Connect your app': html`<p>Paste this into its <code>.env</code>.</p>
      ${rawText('env', 'Environment of your app', environmentOf(view.origin, view.settings).join('\n'))}`,
  })}`,
});

const resultsOf = ({ scenarios }: Report) =>
  html`<ul>${RESULTS.flatMap(worst => scenarios.filter(({ result }) => result === worst)).map(
    ({ name, does, result, problems, paymentId }) =>
      html`<li>${badge(result)} <span><a href="/payments/${paymentId}">${name}</a> ${does}
      ${problems.map(problem => html`<br>${sent(problem)}`)}</span></li>`,
  )}</ul>`;

export const reportPage = (view: View, report?: Report) => ({
  title: report ? `Your server: ${report.result}` : 'Test your server',
  main: html`<h1>Your server ${report && badge(report.result)}</h1>
  <p class="lead">${report ? `${summaryOf(report)}.` : 'Not tested yet.'}</p>
  ${cards({ 'Every scenario': report && resultsOf(report), 'Test it': scenarioForm(view) })}`,
});
