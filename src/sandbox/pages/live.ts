// The script of live pages: it shows what has happened since, and sends forms without leaving the page.

export const LIVE_SCRIPT = `'use strict';
const feed = new EventSource('/live');
const live = document.getElementById('live');
const problem = document.getElementById('problem');
let waiting = false;

/** Puts the page's new content in place of the old, and keeps what the reader has opened, chosen and focused. */
async function refresh() {
  waiting = false;
  const response = await fetch(location.href);
  if (!response.ok) return;
  const text = await response.text();
  const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
  const main = document.querySelector('main');
  const focused = pathOf(document.activeElement, main);
  for (const old of main.querySelectorAll('[id]')) {
    const now = fresh.querySelector('#' + CSS.escape(old.id));
    if (!now) continue;
    if (old.open !== undefined) now.open = old.open;
    if (old.matches('select')) now.value = old.value;
    if (old.matches('[type=radio]')) now.checked = old.checked;
  }
  main.replaceWith(fresh);
  focused && fresh.querySelector(focused)?.focus({ preventScroll: true });
}

/** Leads to the same element in the new content: by its id, or by its label. */
function pathOf(element, main) {
  if (!element || !main.contains(element)) return undefined;
  if (element.id) return '#' + CSS.escape(element.id);
  const label = element.getAttribute('aria-label');
  if (label) return '[aria-label="' + CSS.escape(label) + '"]';
  return element.value ? '[name="' + element.name + '"][value="' + CSS.escape(element.value) + '"]' : undefined;
}

/** Many things that happen at once are one change of the page. */
function soon() {
  if (!waiting) setTimeout(refresh, 50);
  waiting = true;
}

feed.onmessage = soon;
feed.onopen = () => {
  if (live.textContent !== 'Live') soon();
  live.textContent = 'Live';
};
feed.onerror = () => {
  live.textContent = 'Not connected';
};

document.addEventListener('submit', async event => {
  const form = event.target;
  if (!form.matches('[data-quiet]')) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const response = await fetch(form.action, { method: 'POST', body, headers: { accept: 'text/plain' } });
  problem.hidden = response.ok;
  problem.textContent = response.ok ? '' : await response.text();
  soon();
});
`;
