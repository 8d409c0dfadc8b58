// The script of every page: shows news, sends forms in place, copies texts. Without it all pages work too.

const byId = id => document.getElementById(id);
/** The connection's state, on the dashboard. */
const live = byId('live');

/** Keep typed text, opened boxes, and the parts that only this script writes. */
const callbacks = {
  beforeNodeMorphed: node => node.dataset?.own === undefined,
  beforeAttributeUpdated: (name, node) => name !== 'open' && !(name === 'value' && node.matches('input, textarea')),
};

function show(next) {
  const hadFocus = document.activeElement !== document.body;
  if (document.title !== next.title) document.title = byId('news').textContent = next.title;
  Idiomorph.morph(document.body, next.body, { callbacks });
  if (!hadFocus || document.activeElement !== document.body) return;
  const heading = byId('outcome') ?? document.querySelector('h1');
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** Loads this page again, or sends a form. */
async function load(form) {
  const { href } = location;
  const response = await fetch(form?.action ?? href, { ...form, headers: { accept: 'text/html' } });
  const next = new DOMParser().parseFromString(await response.text(), 'text/html');
  if (form) complain(response.ok ? '' : next.querySelector('main p').textContent);
  else if (location.href !== href) return;
  if (!response.ok) return form ? refresh() : location.reload();
  if (new URL(response.url).pathname !== location.pathname) return location.assign(response.url);
  show(next);
}

const complain = text => Object.assign(byId('problem'), { textContent: text, hidden: !text });

let isWanted = false;
let refreshed = Promise.resolve();

/** One refresh at a time, and one more after news during it. */
function refresh() {
  if (isWanted) return;
  isWanted = true;
  refreshed = refreshed.then(async () => {
    await new Promise(resolve => setTimeout(resolve, 100));
    isWanted = false;
    await load().catch(() => {});
  });
}

let feed;

/** A browser has few connections for one server: a hidden page needs none. */
function follow() {
  feed?.close();
  if (document.hidden) return;
  feed = new EventSource('/live');
  feed.onopen = () => {
    say('good', 'Live');
    refresh();
  };
  feed.onerror = () => say('bad', 'Not connected');
  feed.onmessage = refresh;
}

const say = (tone, textContent) => live && Object.assign(live, { textContent, className: `pill ${tone}` });

addEventListener('submit', event => {
  const { target: form, submitter } = event;
  if (!live || form.method === 'get') return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, submitter));
  load({ action: submitter?.getAttribute('formaction') ?? form.action, method: 'POST', body }).catch(() =>
    complain('The sandbox does not answer: is it still running?'),
  );
});
addEventListener('input', ({ target }) => {
  const form = target.closest('[data-filter]');
  if (!form) return;
  // The address holds the search, and the page follows.
  history.replaceState(null, '', `?${new URLSearchParams(new FormData(form))}`);
  refresh();
});
addEventListener('click', async ({ target }) => {
  const button = target.closest('.copy');
  if (!button) return;
  await navigator.clipboard.writeText(button.previousElementSibling.textContent);
  button.textContent = byId('news').textContent = 'Copied';
  setTimeout(() => (button.textContent = 'Copy'), 1_500);
});
document.addEventListener('visibilitychange', follow);
follow();
