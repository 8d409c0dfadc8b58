// The script of the dashboard: it shows what has happened since, and sends forms without leaving the page.
// Without it everything works as well, page by page.

const byId = id => document.getElementById(id);
const live = byId('live');
const news = byId('news');
const notice = byId('notice');
const problem = byId('problem');
let feed;
let isRefreshing = false;
let isWanted = false;

/** One refresh at a time, and one more if something has happened meanwhile: an older answer never replaces a newer. */
async function refresh() {
  isWanted = true;
  if (isRefreshing) return;
  isRefreshing = true;
  let pause = 50;
  while (isWanted) {
    await new Promise(resolve => setTimeout(resolve, pause));
    isWanted = false;
    const begun = performance.now();
    await show().catch(() => {});
    // A sandbox that has much to do is asked less often.
    pause = Math.min(Math.max(50, 3 * (performance.now() - begun)), 1_000);
  }
  isRefreshing = false;
}

async function show() {
  const { href } = location;
  const response = await fetch(href, { headers: { accept: 'text/html' } });
  const page = pageOf(await response.text());
  // In a task of its own, as typing goes before.
  await new Promise(resolve => setTimeout(resolve));
  if (location.href !== href) return;
  if (!response.ok) return complain(`This page no longer exists: ${messageOf(page)}`);
  apply(page);
}

const pageOf = text => new DOMParser().parseFromString(text, 'text/html');
const messageOf = page => page.querySelector('main p')?.textContent ?? '';

/** Changes what differs, and nothing else: focus, scrolling and what was typed stay. */
function apply(page) {
  const focused = document.activeElement;
  const places = placesOf(focused);
  document.title = page.title;
  for (const part of page.querySelectorAll('[data-part]')) {
    const old = byId(part.id);
    if (old) morph(old, part);
  }
  showClock();
  showCopyButtons();
  if (places.length === 0 || document.activeElement === focused) return;
  if (focused.isConnected) return focused.focus({ preventScroll: true });
  const place = places.map(byId).find(Boolean);
  const target = place?.matches('a, button, select, input') ? place : place?.querySelector('a, button, summary');
  (target ?? heading()).focus({ preventScroll: true });
}

function morph(old, now) {
  if (old.dataset?.own !== undefined || old.isEqualNode(now)) return;
  if (old.nodeName !== now.nodeName || (old.id ?? '') !== (now.id ?? '')) {
    old.replaceWith(now);
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = now.nodeValue;
    return;
  }
  const isOwn = name =>
    (name === 'open' && old.matches('details')) || (name === 'hidden' && old.matches('[data-copy]'));
  for (const { name, value } of now.attributes) {
    if (!isOwn(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const name of old.getAttributeNames()) if (!now.hasAttribute(name) && !isOwn(name)) old.removeAttribute(name);
  morphChildren(old, now);
}

/** Those with an id stay themselves, wherever they have moved to; the others are matched in their order. */
function morphChildren(old, now) {
  const kept = new Map([...old.children].filter(({ id }) => id).map(child => [child.id, child]));
  const wanted = new Set([...now.children].map(({ id }) => id));
  let at = old.firstChild;
  for (const child of [...now.childNodes]) {
    while (at?.id && !wanted.has(at.id)) at = removed(at);
    const same = child.id ? kept.get(child.id) : at && !at.id && at.nodeName === child.nodeName ? at : undefined;
    if (!same) {
      old.insertBefore(child, at);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else old.insertBefore(same, at);
    morph(same, child);
  }
  while (at) at = removed(at);
}

function removed(node) {
  const { nextSibling } = node;
  node.remove();
  return nextSibling;
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

/** What a form has done. A move is announced by the feed. */
function tell(element, isMove) {
  const text = element?.textContent ?? '';
  notice.hidden = !text;
  notice.replaceChildren(...(element?.childNodes ?? []));
  if (text && !isMove) news.textContent = text;
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

let clockAt;

/** Goes on from what the server said, until it says something else. */
function showClock() {
  const clock = byId('clock');
  clockAt = clock?.dataset.ticks === undefined ? undefined : Number(clock.dataset.ms) - performance.now();
}

setInterval(() => {
  if (clockAt === undefined || document.hidden) return;
  byId('clock').textContent = new Date(clockAt + performance.now()).toISOString().slice(11, 19);
}, 1_000);

function showCopyButtons() {
  for (const button of document.querySelectorAll('[data-copy][hidden]')) button.hidden = false;
}

async function copy(button) {
  const source = byId(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = 'Copied';
    news.textContent = 'Copied';
    setTimeout(() => (button.textContent = 'Copy'), 1_500);
  } catch {
    // Without leave to write to the clipboard it can still be copied by hand.
    getSelection().selectAllChildren(source);
    source.focus();
  }
}

async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  tell();
  try {
    const response = await fetch(form.action, { method: 'POST', body, headers: { accept: 'text/html' } });
    const page = pageOf(await response.text());
    complain(response.ok ? '' : messageOf(page));
    if (!response.ok) return refresh();
    const { pathname, searchParams } = new URL(response.url);
    if (pathname !== location.pathname) return location.assign(response.url);
    tell(page.querySelector('#notice'), searchParams.get('done') === 'moved');
    const menu = submitter?.closest('details.menu');
    if (menu) close(menu);
    if (form.matches('.fault')) form.reset();
    refresh();
  } catch {
    complain('The sandbox does not answer: is it still running?');
  }
}

/** The focus goes back to what opened it. */
function close(menu) {
  if (menu.contains(document.activeElement)) menu.querySelector('summary').focus();
  menu.open = false;
}

/** The address says what is searched for, and the page follows. */
function search(form) {
  const wanted = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, '', wanted.size > 0 ? `?${wanted}` : location.pathname);
  refresh();
}

document.addEventListener('submit', event => {
  const form = event.target;
  if (!form.matches('[data-quiet], [data-filter]')) return;
  event.preventDefault();
  if (form.matches('[data-filter]')) search(form);
  else send(form, event.submitter);
});
document.addEventListener('input', ({ target }) => {
  const form = target.closest('[data-filter]');
  if (form) search(form);
});
document.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-copy]');
  if (button) copy(button);
  for (const menu of document.querySelectorAll('details.menu[open]')) if (!menu.contains(target)) menu.open = false;
});
document.addEventListener('keydown', event => {
  const menu = event.key === 'Escape' && document.querySelector('details.menu[open]');
  if (menu) close(menu);
  const isTyping = event.target.matches('input, select, textarea');
  if (event.key === '/' && !isTyping && byId('search')) {
    event.preventDefault();
    byId('search').focus();
  }
});
document.addEventListener('visibilitychange', follow);

const { searchParams } = new URL(location.href);
if (searchParams.has('done')) {
  for (const name of ['done', 'of']) searchParams.delete(name);
  history.replaceState(null, '', searchParams.size > 0 ? `?${searchParams}` : location.pathname);
}
showClock();
showCopyButtons();
say('', 'Connecting');
follow();
