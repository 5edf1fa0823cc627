/** The style of the pages: light and dark, readable on a telephone, and without anything from elsewhere. */
export const style = `
:root {
  color-scheme: light dark;
  --text: light-dark(#1b1f24, #e8eaed);
  --soft: light-dark(#565d66, #a9b1ba);
  --page: light-dark(#f6f7f9, #14171a);
  --card: light-dark(#ffffff, #1d2125);
  --line: light-dark(#d5d9de, #363c43);
  --link: light-dark(#0b57b8, #86b7ff);
  --good: light-dark(#17692f, #6fd08c);
  --warn: light-dark(#855200, #f0b95b);
  --bad: light-dark(#b3201b, #ff9089);
  --bad-page: light-dark(#fdeceb, #3a1c1b);
  --good-page: light-dark(#e7f5eb, #17301f);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
header { position: sticky; top: 0; z-index: 1; background: var(--card); border-bottom: 1px solid var(--line); padding: 0 1rem; }
header, nav ul { display: flex; flex-wrap: wrap; align-items: center; gap: 0 .25rem; }
header strong { margin-right: .75rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .65rem .6rem; text-decoration: none; color: var(--text); border-bottom: 3px solid transparent; }
nav a:hover { border-color: var(--line); }
nav a[aria-current] { border-color: var(--link); font-weight: 600; }
.connection { margin-left: auto; color: var(--soft); font-size: .87rem; }
.connection.lost { color: var(--bad); font-weight: 600; }
main { max-width: 100rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.35rem; margin: .25rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; margin: 0 0 1rem; }
.card > :first-child, .row > h2 { margin-top: 0; }
.card > :last-child, .row > h2 { margin-bottom: 0; }
.notice { border-left: .3rem solid var(--warn); }
.notice.bad { border-color: var(--bad); background: var(--bad-page); }
.notice.good { border-color: var(--good); background: var(--good-page); }
#charts { margin-top: 1rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(max(22%, min(15rem, 45%)), 1fr)); gap: 1rem; margin-bottom: 1rem; }
.charts figure { margin: 0; padding: .75rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
.charts figcaption { display: flex; justify-content: space-between; gap: .5rem; color: var(--soft); font-size: .87rem; }
.charts output { color: var(--text); font-weight: 600; font-variant-numeric: tabular-nums; }
.charts svg { display: block; width: 100%; height: 3.5rem; margin-top: .25rem; color: var(--link); }
.charts .bad svg { color: var(--bad); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
th, td { text-align: left; padding: .4rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; font-size: .87rem; color: var(--soft); white-space: nowrap; }
tbody tr:last-child td { border-bottom: 0; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td { overflow-wrap: anywhere; }
td.short { white-space: nowrap; }
ul.troubles { list-style: none; margin: .75rem 0; padding: 0; }
ul.troubles li { padding: .3rem 0; overflow-wrap: anywhere; }
ul.troubles .row { gap: .25rem .6rem; }
details.other { margin-bottom: 1rem; }
summary { cursor: pointer; color: var(--soft); }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
code, pre, .mono { font: .87rem/1.45 ui-monospace, monospace; }
.badge { display: inline-block; padding: 0 .5rem; border-radius: 1rem; border: 1px solid var(--line); font-size: .87rem; white-space: nowrap; }
.badge.good { color: var(--good); border-color: var(--good); }
.badge.warn { color: var(--warn); border-color: var(--warn); }
.badge.bad { color: var(--bad); border-color: var(--bad); }
.soft { color: var(--soft); }
form.filters { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin: 0 0 1rem; }
label { display: flex; flex-direction: column; font-size: .87rem; color: var(--soft); }
input, select, button {
  font: inherit; color: var(--text); background: var(--card); border: 1px solid var(--soft); border-radius: .35rem; padding: .35rem .6rem;
  min-height: 2.2rem; max-width: 100%;
}
button { cursor: pointer; }
button:hover { border-color: var(--link); }
button:disabled { cursor: not-allowed; color: var(--soft); border-style: dashed; }
.row { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; }
.row > :last-child:not(:first-child).end { margin-left: auto; }
ol.timeline { list-style: none; margin: 0; padding: 0 0 0 1.1rem; border-left: 2px solid var(--line); }
ol.timeline > li { position: relative; margin-bottom: 1rem; }
ol.timeline > li::before {
  content: ""; position: absolute; left: -1.5rem; top: .45rem; width: .7rem; height: .7rem; border-radius: 50%; background: var(--good);
  border: 2px solid var(--page);
}
ol.timeline > li.bad::before { background: var(--bad); }
ol.timeline > li.warn::before { background: var(--warn); }
dl.run { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem .9rem; margin: .4rem 0 0; }
dl.run dt { color: var(--soft); }
dl.run dd { margin: 0; }
dl.run ul, ul.plain { list-style: none; margin: 0; padding: 0; }
ul.tree, ul.tree ul { list-style: none; margin: 0; padding-left: 1.1rem; }
ul.tree { padding-left: 0; }
ul.tree li { padding: .15rem 0; }
table.changes { border: 0; background: none; margin: .2rem 0 .4rem; width: auto; }
table.changes td { border: 0; padding: .05rem .8rem .05rem 0; }
del { color: var(--bad); text-decoration: none; background: var(--bad-page); padding: 0 .2rem; border-radius: .2rem; }
ins { color: var(--good); text-decoration: none; background: var(--good-page); padding: 0 .2rem; border-radius: .2rem; }
ol.log { list-style: none; margin: 0; padding: .5rem .75rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; max-height: 70vh; overflow: auto; }
ol.log li { white-space: pre-wrap; overflow-wrap: anywhere; border-bottom: 1px solid var(--line); padding: .1rem 0; }
ol.log .error { color: var(--bad); }
ol.log .warn { color: var(--warn); }
.toast { position: fixed; right: 1rem; bottom: 1rem; max-width: min(30rem, calc(100vw - 2rem)); margin: 0; z-index: 2; }
@media (max-width: 40rem) {
  main { padding: .75rem; }
  header { position: static; padding: .4rem .5rem 0; }
  header strong { margin-left: .6rem; }
  header nav { order: 1; flex-basis: 100%; }
  nav a { padding: .4rem .6rem; }
  .connection { margin-right: .6rem; }
  form.filters label { flex: 1 1 9rem; }
  form.filters :is(input, select) { width: 100%; }
  .charts { gap: .5rem; }
  .charts figure { padding: .5rem .6rem; }
  .cards thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .cards, .cards tbody, .cards tr, .cards td { display: block; width: 100%; }
  .cards tr { border-bottom: 1px solid var(--line); padding: .4rem .7rem; }
  .cards td, .cards td.number { display: flex; gap: .75rem; justify-content: space-between; text-align: right; border: 0; padding: .12rem 0; white-space: normal; }
  .cards td::before { content: attr(data-label); color: var(--soft); text-align: left; flex: none; font: .87rem/1.5 system-ui, sans-serif; }
  .cards td.long { display: block; text-align: left; }
  .cards td.long::before { display: block; }
  .cards td:empty { display: none; }
  dl.run { grid-template-columns: minmax(0, 1fr); gap: 0; }
}
@media (prefers-reduced-motion: no-preference) { .toast { animation: rise .15s ease-out; } @keyframes rise { from { opacity: 0; } } }
`;
