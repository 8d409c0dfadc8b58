// The script of every page. Without it all of them work. It shows news as they come, sends the dashboard's forms without
// leaving the page, and copies texts.

const byId = id => document.getElementById(id);
const news = byId('news');

/** The parts of a page that belong to its reader: typed text, opened boxes, and parts that only this script writes. */
const callbacks = {
  beforeNodeMorphed: node => node.id !== 'news' && node.dataset?.own === undefined,
  beforeAttributeUpdated: (name, node) => name !== 'open' && !(name === 'value' && node.matches('input, textarea')),
};

/** Shows another state of this page. A customer's page changes only with its payment. */
function show(next) {
  const state = next.querySelector('[data-state]')?.dataset.state;
  if (state && state === document.querySelector('[data-state]')?.dataset.state) return;
  const hadFocus = document.activeElement !== document.body;
  document.title = next.title;
  Idiomorph.morph(document.body, next.body, { callbacks });
  if (!hadFocus || document.activeElement !== document.body) return;
  const heading = byId('outcome') ?? document.querySelector('h1');
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

async function ask(address, init) {
  const response = await fetch(address, { ...init, headers: { accept: 'text/html' } });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  return { response, page, message: response.ok ? '' : page.querySelector('main p')?.textContent };
}

function complain(text) {
  const problem = byId('problem');
  if (problem) Object.assign(problem, { textContent: text, hidden: !text });
}

let isRefreshing = false;
let isWanted = false;

/** One refresh at a time, and one more after news of that time. */
async function refresh() {
  isWanted = true;
  if (isRefreshing) return;
  isRefreshing = true;
  while (isWanted) {
    await new Promise(resolve => setTimeout(resolve, 100));
    isWanted = false;
    await load().catch(() => {});
  }
  isRefreshing = false;
}

async function load() {
  const { href } = location;
  const { response, page, message } = await ask(href);
  if (location.href !== href) return;
  if (response.ok) show(page);
  else if (byId('problem')) complain(`This page no longer exists: ${message}`);
  else location.reload();
}

let feed;

/** A browser has few connections for one server: a hidden page gives its own back. */
function follow() {
  feed?.close();
  if (document.hidden || !document.body.dataset.live) return;
  feed = new EventSource(document.body.dataset.live);
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

function say(state, textContent) {
  const live = byId('live');
  if (live) Object.assign(live, { textContent }).dataset.state = state;
}

/** Sends a form of the dashboard. Its answer is this page, or another one. */
async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  try {
    const address = submitter?.getAttribute('formaction') ?? form.action;
    const { response, page, message } = await ask(address, { method: 'POST', body });
    complain(message);
    if (!response.ok) return refresh();
    if (new URL(response.url).pathname !== location.pathname) return location.assign(response.url);
    document.querySelector(':popover-open')?.hidePopover();
    show(page);
  } catch {
    complain('The sandbox does not answer: is it still running?');
  }
}

/** The address holds the search, and the page follows. */
function search(form) {
  history.replaceState(null, '', `?${new URLSearchParams(new FormData(form))}`);
  refresh();
}

document.addEventListener('submit', event => {
  const { target, submitter } = event;
  if (!target.matches('[data-quiet], [data-filter]')) return;
  event.preventDefault();
  if (target.matches('[data-quiet]')) send(target, submitter);
  else search(target);
});
document.addEventListener('input', ({ target }) => {
  const form = target.closest('[data-filter]');
  if (form) search(form);
});
document.addEventListener('keydown', event => {
  if (event.key !== '/' || !byId('search') || event.target.matches('input, select, textarea')) return;
  event.preventDefault();
  byId('search').focus();
});
document.addEventListener('click', async ({ target }) => {
  const button = target.closest('.copy');
  if (!button) return;
  await navigator.clipboard.writeText(button.previousElementSibling.textContent);
  button.textContent = news.textContent = 'Copied';
  setTimeout(() => (button.textContent = 'Copy'), 1_500);
});

document.addEventListener('visibilitychange', follow);
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
say('', 'Connecting');
follow();
