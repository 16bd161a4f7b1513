import { PAGE_STYLE } from '../report/page-style.js';

/** The report's style, and what pages have beside it. */
export const EXPLORE_STYLE = `${PAGE_STYLE}
.wide { max-width: 96rem; margin: 0 auto; padding: 0 1.25rem; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: .5rem; padding: .4rem .8rem; background: var(--paper); z-index: 1; }
.bar { border-bottom: 1px solid var(--line); background: var(--panel); }
.bar .wide { display: flex; flex-wrap: wrap; align-items: center; gap: .35rem 1.5rem; padding-top: .6rem; padding-bottom: .35rem; }
.bar .brand { margin: 0; font-weight: 600; }
.bar .brand a, .bar nav a { text-decoration: none; }
.bar form { flex: 1 1 16rem; max-width: 30rem; }
.bar input { width: 100%; padding: .4rem .65rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--faint); border-radius: .3rem; }
.bar nav { margin: 0; border: 0; flex-basis: 100%; }
.bar nav ul { gap: 0 1.25rem; }
.bar nav a { padding: .25rem 0; }
.bar [aria-current] { font-weight: 600; border-bottom: 2px solid var(--accent); }
main.wide { padding-top: 1.5rem; min-height: 60vh; }
footer.wide { margin-top: 3rem; padding-top: 1rem; padding-bottom: 2rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .875rem; }
main:focus { outline: none; }
h1 { font-size: 1.625rem; margin-bottom: 1rem; }
main > .about { margin: -.6rem 0 1.25rem; }
section { padding-top: 2rem; }
section h3 { margin-top: 1rem; }
thead th a { color: inherit; text-decoration: none; white-space: nowrap; }
thead th a:hover { text-decoration: underline; }
thead th[aria-sort="none"] a::after { content: " \\2195"; content: " \\2195" / ""; color: var(--faint); }
thead th[aria-sort="ascending"] a::after { content: " \\2191"; content: " \\2191" / ""; color: var(--accent); }
thead th[aria-sort="descending"] a::after { content: " \\2193"; content: " \\2193" / ""; color: var(--accent); }
[aria-sort="ascending"] a, [aria-sort="descending"] a { color: var(--ink); font-weight: 600; }
.tools { display: block; color: var(--soft); }
.tools a { color: var(--soft); }
.filters { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .9rem; margin: 0 0 1.25rem; font-size: .9375rem; }
.filters label { display: inline-flex; align-items: center; gap: .4rem; color: var(--soft); min-width: 0; }
.filters input { width: 8.5rem; } .filters input[name="q"] { width: 14rem; }
.filters input[name^="min_"], .filters input[name^="max_"], .filters input[name="suggest_minus"] { width: 5rem; }
.filters input, .filters select, .sql textarea { padding: .4rem .6rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--faint); border-radius: .3rem; }
.filters button, .sql button { padding: .4rem .9rem; font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--faint); border-radius: .3rem; cursor: pointer; }
.filters small { flex-basis: 100%; margin-top: -.3rem; }
.pager { display: flex; gap: 1.25rem; margin: 0 0 1.5rem; border: 0; font-size: .9375rem; }
.pager a { padding: 0; text-decoration: underline; }
.sql label { display: block; margin-bottom: .4rem; color: var(--soft); }
.sql textarea { display: block; width: 100%; max-width: 60rem; margin-bottom: .6rem; font: .9375rem/1.5 ui-monospace, monospace; }
pre { max-width: 100%; overflow-x: auto; padding: .9rem 1.1rem; background: var(--panel); font: .875rem/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
code { font: .9375em ui-monospace, monospace; overflow-wrap: anywhere; }
.cards tbody th.number { min-width: 0; }
.list { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.5rem; max-width: 70rem; }
.list dd, .columns dd { margin: 0; }
.columns { margin: .25rem 0 1rem 1rem; font-size: .9375rem; }
.columns dd { margin: 0 0 .4rem 1rem; color: var(--soft); }
.chart { max-width: 44rem; }
.chart figcaption { font-weight: 400; font-size: .8125rem; color: var(--soft); margin-top: .35rem; }
@media screen and (max-width: 44rem) {
  .wide { padding-inline: 1rem; }
  .list { display: block; } .list dd { margin: 0 0 .75rem; }
  .cards thead th:not([aria-sort="none"]):not([aria-sort]) { display: none; }
  .filters label, .filters input, .filters select { flex: 1 1 auto; }
}
@media print { .bar form, .bar nav, .filters, .pager, .tools { display: none; } }
`;
