// The style of every page: light and dark, from a phone's width to a wide screen.

export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f5f7, #0d1015);
  --surface: light-dark(#ffffff, #161a21);
  --sunk: light-dark(#f4f5f7, #0d1015);
  --text: light-dark(#171b21, #e7eaef);
  --dim: light-dark(#57606b, #9aa4b0);
  --line: light-dark(#dde1e6, #2a303a);
  --control: light-dark(#8a94a0, #6b7684);
  --accent: light-dark(#2447b8, #9db8ff);
  --primary: light-dark(#2447b8, #9db8ff);
  --on-primary: light-dark(#ffffff, #0b1430);
  --green: light-dark(#12663a, #7ddba3);
  --green-ground: light-dark(#dcf5e6, #12301f);
  --red: light-dark(#9c1c2b, #ff9ea8);
  --red-ground: light-dark(#fde5e7, #3a161b);
  --amber: light-dark(#7a4a00, #f2c470);
  --amber-ground: light-dark(#fdf0d3, #33260e);
  --blue: light-dark(#1c4f8f, #9ccbff);
  --blue-ground: light-dark(#e0edfc, #14263b);
  --grey-ground: light-dark(#e9ecf0, #262c35);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
* { box-sizing: border-box; }
body { margin: 0; padding: 0 1rem 3rem; background: var(--ground); color: var(--text); }
.wide > * { max-width: 76rem; margin-inline: auto; }
.narrow > * { max-width: 27rem; margin-inline: auto; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 1.25rem auto; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 0 0 0.75rem; }
h3 { font-size: 0.95rem; margin: 1.25rem 0 0.5rem; }
p { margin: 0.5rem 0; }
a { color: var(--accent); text-underline-offset: 0.15em; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: 0.85rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }

.top { display: flex; align-items: center; gap: 0.75rem; padding: 1rem 0; }
.brand { font-weight: 650; color: var(--text); text-decoration: none; letter-spacing: -0.01em; }
.pill, .live { font-size: 0.8rem; color: var(--dim); }
.pill { border: 1px solid var(--line); border-radius: 99px; padding: 0.05rem 0.6rem; }
.live { margin-left: auto; }

.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.live::before { content: ""; display: inline-block; width: 0.5rem; height: 0.5rem; margin-right: 0.4rem; border-radius: 50%; background: var(--dim); }
.live[data-state=live]::before { background: var(--green); }
.live[data-state=lost]::before { background: var(--red); }
.problem { padding: 0.6rem 0.9rem; border-radius: 8px; background: var(--red-ground); color: var(--red); }

.card { background: var(--surface); border: 1px solid var(--line); border-radius: 12px; padding: 1.25rem; min-width: 0; box-shadow: 0 1px 2px rgb(0 0 0 / 0.05); }
.columns, .columns > div { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; align-items: start; }
.card + .columns, h1 + .columns { margin-top: 1rem; }
.columns > div { grid-template-columns: minmax(0, 1fr); }
.empty { text-align: center; padding: 2.5rem 1rem; color: var(--dim); }
.dim { color: var(--dim); font-size: 0.875rem; }
.small { font-size: 0.875rem; }
#force { margin-top: 1rem; }
.url { overflow-wrap: anywhere; font-size: 0.875rem; color: var(--dim); margin: 0.25rem 0; }
a.url { color: var(--accent); }

.badge { display: inline-block; max-width: 100%; padding: 0.1rem 0.55rem; border-radius: 99px; font-size: 0.75rem; font-weight: 600; letter-spacing: 0.02em; background: var(--grey-ground); color: var(--text); overflow-wrap: anywhere; }
.badge.completed { background: var(--green-ground); color: var(--green); }
.badge.failed { background: var(--red-ground); color: var(--red); }
.badge.authorized { background: var(--blue-ground); color: var(--blue); }
.badge.pending, .badge.fault { background: var(--amber-ground); color: var(--amber); }

button, select, .button { font: inherit; color: inherit; background: var(--surface); border: 1px solid var(--control); border-radius: 8px; padding: 0.45rem 0.9rem; min-height: 2.5rem; max-width: 100%; }
button, .button { font-weight: 550; cursor: pointer; }
button:hover, .button:hover { background: var(--grey-ground); }
button.primary { background: var(--primary); border-color: var(--primary); color: var(--on-primary); }
button.primary:hover { filter: brightness(1.1); }
button.quiet { border-color: transparent; background: none; color: var(--accent); padding-inline: 0.25rem; text-decoration: underline; text-underline-offset: 0.15em; font-weight: 450; }
button.small { min-height: 1.9rem; padding: 0.15rem 0.6rem; font-size: 0.85rem; border-color: var(--line); }
.button { display: inline-block; text-decoration: none; }
form { margin: 0; }
label { font-size: 0.9rem; }
fieldset { border: 0; padding: 0; margin: 0; }
legend { padding: 0; font-size: 0.9rem; font-weight: 600; margin-bottom: 0.4rem; }
fieldset.row legend { font-weight: 400; float: left; margin: 0 0.75rem 0 0; }
.row { display: flex; gap: 0.5rem; align-items: center; flex-wrap: wrap; }
.stack { display: grid; gap: 0.6rem; }
.moves { display: grid; gap: 0.6rem; margin-top: 1rem; }
.row select { flex: 1 1 10rem; min-width: 0; }

.facts { margin: 0; }
.facts > div { display: flex; justify-content: space-between; gap: 1rem; padding: 0.45rem 0; border-bottom: 1px solid var(--line); }
.facts dt { color: var(--dim); font-size: 0.9rem; }
.facts dd { margin: 0; text-align: right; overflow-wrap: anywhere; min-width: 0; }
.terms dt { margin-top: 0.6rem; }
.terms dd { margin: 0.1rem 0 0; font-size: 0.9rem; color: var(--dim); }

.checkout { display: grid; gap: 1rem; padding: 1.5rem; }
.checkout > * { margin: 0; }
.checkout .merchant { color: var(--dim); overflow-wrap: anywhere; }
.checkout .amount { font-size: 2rem; font-variant-numeric: tabular-nums; margin-top: -0.75rem; }
.checkout h2 { margin: 0.5rem 0 0; }
.checkout .stack > button { min-height: 3rem; }
.checkout .stack > button.quiet { min-height: 2.5rem; justify-self: start; }
.checkout fieldset + .primary { margin-top: 0.4rem; }

.checkout .decline { border-top: 1px solid var(--line); padding-top: 1rem; margin-top: 0.4rem; }
.checkout .decline label { color: var(--dim); display: block; margin-bottom: 0.3rem; }
.checkout .small { border-top: 1px solid var(--line); padding-top: 0.75rem; }
.choices { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: 0.1rem 0.75rem; }
.choices label { display: flex; gap: 0.4rem; padding: 0.3rem 0; line-height: 1.3; }
.choices input { flex: none; margin: 0.05rem 0 0; }
input[type=radio] { accent-color: var(--accent); width: 1.05rem; height: 1.05rem; vertical-align: -0.15rem; }

table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
thead th { text-align: left; font-size: 0.8rem; font-weight: 550; color: var(--dim); padding: 0 0.75rem 0.5rem 0; }
tbody th, tbody td { text-align: left; font-weight: 400; padding: 0.5rem 0.75rem 0.5rem 0; border-top: 1px solid var(--line); vertical-align: middle; white-space: nowrap; }
tbody th { font-weight: 550; white-space: normal; overflow-wrap: anywhere; }
.number { white-space: nowrap; }
.pages { display: flex; gap: 1rem; align-items: center; padding-top: 0.75rem; border-top: 1px solid var(--line); font-size: 0.9rem; }

.list { list-style: none; margin: 0; padding: 0; }
.list > li { padding: 0.6rem 0; border-top: 1px solid var(--line); }
.list > li:first-child { border-top: 0; padding-top: 0; }
.list p { font-size: 0.875rem; overflow-wrap: anywhere; }
.line { display: flex; flex-wrap: wrap; gap: 0.4rem 0.5rem; align-items: center; }
.line > * { min-width: 0; overflow-wrap: anywhere; }
.line form { margin-left: auto; }
.armed { padding-left: 1.25rem; margin: 0.25rem 0; }
summary { cursor: pointer; font-size: 0.875rem; color: var(--dim); }
#all-faults { margin-top: 1rem; }
pre { margin: 0.5rem 0; padding: 0.75rem 0.9rem; background: var(--sunk); border: 1px solid var(--line); border-radius: 8px; overflow: auto; max-height: 26rem; line-height: 1.45; white-space: pre-wrap; overflow-wrap: anywhere; }

@media (max-width: 58rem) {
  .payments, .payments tbody { display: block; }
  .payments thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .payments tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0.15rem 0.75rem; padding: 0.75rem 0; border-top: 1px solid var(--line); }
  .payments tbody tr:first-child { border-top: 0; padding-top: 0; }
  .payments th, .payments td { border: 0; padding: 0; white-space: normal; overflow-wrap: anywhere; }
  .payments td:nth-child(even) { text-align: right; }
  .card { padding: 1rem; }
}
@media (prefers-reduced-motion: no-preference) {
  button, .button { transition: background 0.12s; }
}
`;
