// The script of every page. Without it all of them work. It shows news as they come, sends the dashboard's forms without
// leaving the page, and helps a customer to type and to copy.

const byId = id => document.getElementById(id);
const news = byId('news');

/** The parts of a page that belong to its reader: typed text, opened boxes, and parts that only this script writes. */
const callbacks = {
  beforeNodeMorphed: node => node.id !== 'news' && node.dataset?.own === undefined,
  beforeAttributeUpdated: (name, node) =>
    !(
      name === 'open' ||
      (name === 'value' && node.matches('input, textarea')) ||
      (name === 'hidden' && node.matches('.copy'))
    ),
};

/** Shows another state of this page. A customer's page changes only with its payment. */
function show(next) {
  const state = next.querySelector('[data-state]')?.dataset.state;
  if (state && state === document.querySelector('[data-state]')?.dataset.state) return;
  const hadFocus = document.activeElement !== document.body;
  document.title = next.title;
  Idiomorph.morph(document.body, next.body, { callbacks });
  if (hadFocus && document.activeElement === document.body) focusHeading();
  enhance();
}

function focusHeading() {
  const heading = byId('outcome') ?? document.querySelector('h1');
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

const pageOf = async response => new DOMParser().parseFromString(await response.text(), 'text/html');
const messageOf = page => page.querySelector('main p')?.textContent ?? '';

function complain(text) {
  const problem = byId('problem');
  if (problem) Object.assign(problem, { textContent: text, hidden: !text });
}

let isRefreshing = false;
let isWanted = false;

/** One refresh at a time, and one more after news of that time. A busy sandbox is asked less often. */
async function refresh() {
  isWanted = true;
  if (isRefreshing) return;
  isRefreshing = true;
  for (let pause = 50; isWanted; ) {
    await new Promise(resolve => setTimeout(resolve, pause));
    isWanted = false;
    const begun = performance.now();
    await load().catch(() => {});
    pause = Math.min(Math.max(50, 3 * (performance.now() - begun)), 1_000);
  }
  isRefreshing = false;
}

async function load() {
  const { href } = location;
  const response = await fetch(href, { headers: { accept: 'text/html' } });
  const page = await pageOf(response);
  if (location.href !== href || isLeaving) return;
  if (response.ok) show(page);
  else if (byId('problem')) complain(`This page no longer exists: ${messageOf(page)}`);
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

function say(state, text) {
  const live = byId('live');
  if (!live) return;
  Object.assign(live, { textContent: text, hidden: false });
  live.dataset.state = state;
}

/** Sends a form of the dashboard. Its answer is this page, or another one. */
async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  try {
    const response = await fetch(form.action, { method: 'POST', body, headers: { accept: 'text/html' } });
    const page = await pageOf(response);
    complain(response.ok ? '' : messageOf(page));
    if (!response.ok) return refresh();
    if (new URL(response.url).pathname !== location.pathname) return location.assign(response.url);
    history.replaceState(null, '', response.url);
    close(submitter?.closest('details.menu'));
    if (form.matches('.fault')) form.reset();
    show(page);
    news.textContent = byId('notice')?.textContent ?? '';
  } catch {
    complain('The sandbox does not answer: is it still running?');
  }
}

/** The focus goes back to the button that opened the menu. */
function close(menu) {
  if (menu?.contains(document.activeElement)) menu.querySelector('summary').focus();
  menu?.removeAttribute('open');
}

/** The address holds the search, and the page follows. */
function search(form) {
  const wanted = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(null, '', wanted.size > 0 ? `?${wanted}` : location.pathname);
  refresh();
}

let isLeaving = false;
/** An app that was called leaves this page open. After so many milliseconds it can be used again. */
const LEFT = 3_000;

function leave(event, submitter) {
  if (isLeaving) return event.preventDefault();
  isLeaving = true;
  if (submitter) submitter.ariaBusy = 'true';
  setTimeout(() => {
    isLeaving = false;
    if (submitter) submitter.ariaBusy = null;
    refresh();
  }, LEFT);
}

document.addEventListener('submit', event => {
  const { target, submitter } = event;
  if (target.matches('[method=post]:not([data-quiet])')) return leave(event, submitter);
  if (!target.matches('[data-quiet], [data-filter]')) return;
  event.preventDefault();
  if (target.matches('[data-filter]')) search(target);
  else send(target, submitter);
});
document.addEventListener('input', ({ target }) => {
  const form = target.closest('[data-filter]');
  if (form) search(form);
});

async function copy(button) {
  const source = button.previousElementSibling;
  try {
    await navigator.clipboard.writeText(button.dataset.copy || source.textContent);
    button.textContent = news.textContent = 'Copied';
    setTimeout(() => (button.textContent = 'Copy'), 1_500);
  } catch {
    // Without a clipboard, the marked text can be copied by hand.
    getSelection().selectAllChildren(source);
    source.focus();
  }
}

document.addEventListener('click', ({ target }) => {
  const button = target.closest('.copy');
  if (button) copy(button);
  for (const menu of document.querySelectorAll('details.menu[open]')) if (!menu.contains(target)) menu.open = false;
});
document.addEventListener('keydown', event => {
  if (event.key === 'Escape') close(document.querySelector('details.menu[open]'));
  if (event.key !== '/' || !byId('search') || event.target.matches('input, select, textarea')) return;
  event.preventDefault();
  byId('search').focus();
});

/** Formats `4242424242424242` as on the card. */
function cardNumber(digits) {
  const isAmex = /^3[47]/.test(digits);
  return digits.replace(isAmex ? /^(.{4})(.{0,6})(.*)/ : /(.{4})(?=.)/g, isAmex ? '$1 $2 $3' : '$1 ').trimEnd();
}

function expiryDate(digits) {
  const text = /^[2-9]/.test(digits) ? `0${digits}` : digits;
  return text.length > 2 ? `${text.slice(0, 2)} / ${text.slice(2)}` : text;
}

/** The fields that are formatted while they are typed, with their number of digits. */
const FORMATS = { number: [19, cardNumber], expiry: [4, expiryDate] };
const BRANDS = { Visa: /^4/, Mastercard: /^(5[1-5]|2[2-7])/, Amex: /^3[47]/, Bancontact: /^6703/ };

/** The caret stays behind the digit that it was behind. */
function format(input, isDeleting) {
  const [longest, write] = FORMATS[input.id];
  const before = input.value.slice(0, input.selectionStart).replace(/\D/g, '').length;
  const digits = input.value.replace(/\D/g, '').slice(0, longest);
  if (isDeleting && input.selectionStart < input.value.length) return;
  input.value = isDeleting ? write(digits).trimEnd() : write(digits);
  if (before >= digits.length) return;
  let at = 0;
  for (let seen = 0; seen < before; at++) if (/\d/.test(input.value[at])) seen++;
  input.setSelectionRange(at, at);
}

function showBrand() {
  const digits = byId('number')?.value;
  for (const brand of document.querySelectorAll('.brands i'))
    brand.classList.toggle('is-known', BRANDS[brand.textContent].test(digits));
}

document.addEventListener('input', ({ target, inputType = '' }) => {
  if (FORMATS[target.id]) format(target, inputType.startsWith('delete'));
  showBrand();
});

/** The seconds on this page: the code itself may live longer. */
function countDown(element) {
  const total = Number(element.dataset.seconds);
  const left = element.querySelector('.left');
  const end = performance.now() + total * 1_000;
  const tick = () => {
    const seconds = Math.max(Math.ceil((end - performance.now()) / 1_000), 0);
    if (seconds === 0 || !element.isConnected) clearInterval(timer);
    element.style.setProperty('--part', String(seconds / total));
    left.textContent = `The code is good for ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    if (seconds === 0) left.textContent = news.textContent = 'The code has expired. Take a new one from your app.';
  };
  const timer = setInterval(tick, 1_000);
  tick();
}

let clockAt;
setInterval(() => {
  if (clockAt && !document.hidden)
    byId('clock').textContent = new Date(clockAt + performance.now()).toISOString().slice(11, 19);
}, 1_000);

/** Prepares a page as the server sent it. */
function enhance() {
  const { ms, ticks } = byId('clock')?.dataset ?? {};
  clockAt = ticks === undefined ? undefined : Number(ms) - performance.now();
  for (const button of document.querySelectorAll('.copy[hidden]')) button.hidden = false;
  showBrand();
}

document.addEventListener('visibilitychange', follow);
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
for (const element of document.querySelectorAll('.countdown')) countDown(element);
enhance();
say('', 'Connecting');
follow();
