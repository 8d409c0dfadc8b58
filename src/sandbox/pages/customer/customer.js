// The script of the customer's pages. Without it every page works; it adds what moves: copying, formatting, a countdown,
// and the outcome as soon as there is one.

const page = document.getElementById('page');
const news = document.getElementById('news');
let feed;
let isLeaving = false;

/** The page as the server has it now, if the payment's state is another than the one that is shown. */
async function refresh() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!response.ok) return location.reload();
  const next = new DOMParser().parseFromString(await response.text(), 'text/html');
  const now = next.getElementById('page');
  if (now.dataset.state === page.dataset.state) return;
  const hadFocus = page.contains(document.activeElement);
  page.dataset.state = now.dataset.state;
  page.replaceChildren(...now.childNodes);
  document.title = next.title;
  const heading = document.getElementById('outcome');
  news.textContent = heading?.textContent ?? '';
  if (hadFocus) heading?.focus({ preventScroll: true });
  enhance();
}

/** A browser has few connections for one server: a hidden page gives its own back. */
function follow() {
  feed?.close();
  if (document.hidden) return;
  feed = new EventSource(document.body.dataset.live);
  // What has happened before the connection stood is not missed.
  feed.onopen = feed.onmessage = () => void (isLeaving || refresh().catch(() => {}));
}

/** `4242424242424242` as it is printed on the card. */
function cardNumber(digits) {
  const pattern = /^3[47]/.test(digits) ? /^(.{4})(.{0,6})(.{0,5})/ : /(.{4})(?=.)/g;
  return digits.replace(pattern, pattern.global ? '$1 ' : '$1 $2 $3').trimEnd();
}

function expiryDate(digits) {
  const text = /^[2-9]/.test(digits) ? `0${digits}` : digits;
  return text.length > 2 ? `${text.slice(0, 2)} / ${text.slice(2)}` : text;
}

/** Rewrites what is typed; the caret stays behind the digit that it was behind. */
function format(input, longest, write) {
  input?.addEventListener('input', event => {
    const before = input.value.slice(0, input.selectionStart).replace(/\D/g, '').length;
    const digits = input.value.replace(/\D/g, '').slice(0, longest);
    // Whoever deletes a separator means the digit before it.
    if (event.inputType?.startsWith('delete') && input.selectionStart < input.value.length) return;
    input.value = event.inputType?.startsWith('delete') ? write(digits).trimEnd() : write(digits);
    if (before >= digits.length) return;
    let at = 0;
    for (let seen = 0; seen < before; at++) if (/\d/.test(input.value[at])) seen++;
    input.setSelectionRange(at, at);
  });
}

const BRANDS = { Visa: /^4/, Mastercard: /^(5[1-5]|2[2-7])/, Amex: /^3[47]/, Bancontact: /^6703/ };

function showBrand(input) {
  const brands = document.querySelectorAll('.brands i');
  const show = () => {
    for (const brand of brands) brand.classList.toggle('is-known', BRANDS[brand.textContent].test(input.value));
  };
  input?.addEventListener('input', show);
  if (input) show();
}

/** Of the page alone: the code is good for longer than its page if the customer comes back. */
function countDown(element) {
  const left = element.querySelector('.left');
  const total = Number(element.dataset.seconds);
  const end = performance.now() + total * 1000;
  element.classList.add('runs');
  const tick = () => {
    if (!element.isConnected) return clearInterval(timer);
    const seconds = Math.max(Math.ceil((end - performance.now()) / 1000), 0);
    element.style.setProperty('--part', String(seconds / total));
    left.textContent = `The code is good for ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    if (seconds > 0) return;
    clearInterval(timer);
    element.classList.add('over');
    left.textContent = news.textContent = 'The code has expired. Take a new one from your app.';
  };
  const timer = setInterval(tick, 1000);
  tick();
}

/** Shown for so many milliseconds after copying. */
const COPIED = 2000;

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    // No clipboard here: the text is marked, to copy it by hand.
    getSelection().selectAllChildren(button.parentElement.querySelector('bdi'));
    return;
  }
  button.textContent = news.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, COPIED);
}

/** Fills in a test number or code without another page. */
function fill(button) {
  const fields = Object.entries(button.dataset);
  const inputs = fields.map(([name]) => document.getElementById(name));
  if (inputs.includes(null)) return false;
  for (const [name, text] of fields) {
    const input = document.getElementById(name);
    input.value = text;
    input.removeAttribute('aria-invalid');
    document.getElementById(`${name}-error`)?.remove();
    input.dispatchEvent(new Event('input'));
  }
  inputs[0].form.querySelector('.main').focus();
  return true;
}

function enhance() {
  for (const button of document.querySelectorAll('.copy')) button.hidden = false;
  for (const element of document.querySelectorAll('.countdown')) countDown(element);
  format(document.getElementById('number'), 19, cardNumber);
  format(document.getElementById('expiry'), 4, expiryDate);
  showBrand(document.getElementById('number'));
}

document.addEventListener('click', event => {
  const button = event.target.closest('button, a');
  if (button?.matches('.copy')) copy(button);
  if (button?.matches('[name=test]') && fill(button)) event.preventDefault();
  if (button?.matches('[href="#tests"]')) document.getElementById('controls').open = true;
});

/** An app that was called leaves this page where it is: after so many milliseconds it can be used again. */
const LEFT = 3000;

document.addEventListener('submit', event => {
  if (isLeaving) return event.preventDefault();
  const { submitter } = event;
  isLeaving = true;
  if (submitter?.matches('.main')) submitter.ariaBusy = 'true';
  setTimeout(() => {
    isLeaving = false;
    if (submitter) submitter.ariaBusy = null;
    refresh().catch(() => {});
  }, LEFT);
});

document.addEventListener('visibilitychange', follow);
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
enhance();
follow();
