// The script of live pages: it shows what has happened since, and sends forms without leaving the page.

const live = document.getElementById('live');
const news = document.getElementById('news');
const problem = document.getElementById('problem');
/** The parts of the page as the server last sent them. */
const sent = new Map();
const partsOf = root => [...root.querySelectorAll('section[id]')];
let feed;
let isRefreshing = false;
let isWanted = false;

/** One refresh at a time, and one more if something has happened meanwhile: an older answer never replaces a newer. */
async function refresh() {
  isWanted = true;
  if (isRefreshing) return;
  isRefreshing = true;
  while (isWanted) {
    isWanted = false;
    await new Promise(resolve => setTimeout(resolve, 50));
    await show().catch(() => {});
  }
  isRefreshing = false;
}

async function show() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
  const text = await response.text();
  const main = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
  if (!response.ok) return complain(`This page no longer exists: ${main.querySelector('p').textContent}`);
  const parts = partsOf(main);
  const focused = document.activeElement;
  const places = placesOf(focused);
  for (const part of parts) {
    const old = document.getElementById(part.id);
    if (sent.get(part.id) === part.innerHTML) continue;
    sent.set(part.id, part.innerHTML);
    keepChoices(old, part);
    old.replaceWith(part);
  }
  if (focused?.isConnected || places.length === 0) return;
  const place = places.map(id => document.getElementById(id)).find(Boolean);
  const target = place?.matches('a, button, select, input') ? place : place?.querySelector('a, button, summary');
  (target ?? heading()).focus({ preventScroll: true });
}

/** What the reader has opened and chosen stays so. */
function keepChoices(old, part) {
  for (const before of old.querySelectorAll('[id]')) {
    const now = part.querySelector(`#${CSS.escape(before.id)}`);
    if (!now) continue;
    if (before.matches('details')) now.open = before.open;
    if (before.matches('select')) now.value = before.value;
    if (before.matches('[type=radio]')) now.checked = before.checked;
  }
}

/** Its own id, then those of its ancestors, from near to far. */
function placesOf(element) {
  const ids = [];
  for (let at = element; at && at !== document.body; at = at.parentElement) if (at.id) ids.push(at.id);
  return ids;
}

function heading() {
  const h1 = document.querySelector('h1');
  h1.tabIndex = -1;
  return h1;
}

function complain(text) {
  problem.hidden = !text;
  problem.textContent = text;
}

function say(state, text) {
  live.dataset.state = state;
  live.textContent = text;
  live.hidden = false;
}

/** A browser has few connections for one server: a hidden page gives its own back. */
function follow() {
  feed?.close();
  if (document.hidden) return;
  feed = new EventSource('/live');
  feed.onopen = () => {
    say('live', 'Live');
    refresh();
  };
  feed.onerror = () => say('lost', 'Not connected');
  feed.onmessage = ({ data }) => {
    if (data) news.textContent = data;
    refresh();
  };
}

document.addEventListener('visibilitychange', follow);
for (const part of partsOf(document)) sent.set(part.id, part.innerHTML);
say('', 'Connecting');
follow();

document.addEventListener('submit', async event => {
  const form = event.target;
  if (!form.matches('[data-quiet]')) return;
  event.preventDefault();
  if (form.dataset.confirm && !confirm(form.dataset.confirm)) return;
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const request = { method: 'POST', body, headers: { accept: 'text/plain' } };
  try {
    const response = await fetch(form.action, request);
    complain(response.ok ? '' : await response.text());
  } catch {
    complain('The sandbox does not answer: is it still running?');
  }
  refresh();
});
