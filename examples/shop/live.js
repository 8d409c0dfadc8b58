// Loads the page again while it says that it is not final, ever less often, and shows what has changed.
const main = document.querySelector('main');

const lookIn = ms => setTimeout(look, ms, Math.min(ms * 1.5, 5_000));

async function look(next) {
  if (!('live' in main.dataset)) return;
  if (!document.hidden) {
    const response = await fetch(location.href).catch(() => undefined);
    if (response?.ok) show(await response.text());
  }
  lookIn(next);
}

function show(text) {
  const changed = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
  if (changed.innerHTML !== main.innerHTML) main.innerHTML = changed.innerHTML;
  if (!('live' in changed.dataset)) delete main.dataset.live;
}

lookIn(400);
