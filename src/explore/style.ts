/**
 * The style sheet of all pages and charts. Light and dark mode share one set of color variables, with WCAG AA contrast.
 */
export const PAGE_STYLE = `
:root { color-scheme: light dark;
  --paper: #fbfcfb; --panel: #f0f4f2; --ink: #1c2321; --soft: #55615d; --line: #d9dfdc; --faint: #7f8b86;
  --accent: #0b6b53; --accent-soft: #4f9a83; --warn: #835300; --bad: #a3261d;
  --line-2: #1f5fa8; --line-3: #a3261d; --line-4: #7344b5; --line-5: #835300; --line-6: #96276f; --line-7: #33691e; --line-8: #55615d; }
@media screen and (prefers-color-scheme: dark) { :root {
  --paper: #131917; --panel: #1b2320; --ink: #e4eae7; --soft: #a0aea9; --line: #303b37; --faint: #74817c;
  --accent: #6fd0b2; --accent-soft: #3f8d75; --warn: #e5b75f; --bad: #f3948a;
  --line-2: #8ab8f0; --line-3: #f3948a; --line-4: #c7a8f2; --line-5: #e5b75f; --line-6: #ef9ccb; --line-7: #a9d18a; --line-8: #a0aea9; } }
@media (forced-colors: active) { :root { --paper: Canvas; --panel: Canvas; --ink: CanvasText; --soft: CanvasText; --line: GrayText;
  --faint: GrayText; --accent: CanvasText; --accent-soft: GrayText; --warn: CanvasText; --bad: CanvasText;
  --line-2: CanvasText; --line-3: CanvasText; --line-4: CanvasText; --line-5: CanvasText; --line-6: CanvasText; --line-7: CanvasText; --line-8: CanvasText; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
h1 { margin: 0; font-size: 2rem; overflow-wrap: anywhere; }
h2 { margin: 0 0 .75rem; font-size: 1.375rem; }
h3 { margin: 0 0 .25rem; font-size: 1.0625rem; }
p { margin: 0 0 1rem; max-width: 44rem; }
small, .soft, .about, .none { color: var(--soft); }
small { font-size: .8125rem; }
a { color: inherit; text-decoration-color: var(--faint); text-underline-offset: .15em; }
a:hover { color: var(--accent); text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.about { margin: 0; font-size: .9375rem; }

.verdict { list-style: none; margin: 0 0 1.5rem; padding: 0; display: grid; gap: .35rem; }
.verdict li { display: grid; grid-template-columns: 1.5rem 1fr; align-items: baseline; }
.verdict li::before { font-weight: 700; }
.verdict .good::before { content: "\\2713"; content: "\\2713" / ""; color: var(--accent); }
.verdict .attention::before { content: "!"; content: "!" / ""; color: var(--warn); }
.verdict .note::before { content: "\\2022"; content: "\\2022" / ""; color: var(--soft); }
.verdict .wrong::before { content: "\\2715"; content: "\\2715" / ""; color: var(--bad); }

nav { margin-top: 1.75rem; border-block: 1px solid var(--line); }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1.5rem; margin: 0; padding: 0; list-style: none; }
nav a { display: block; padding: .5rem 0; text-decoration: none; }
nav a:hover { text-decoration: underline; }
section { padding: 2.75rem 0 0; scroll-margin-top: 1rem; }

.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1.25rem 1.5rem; margin: 0 0 1.75rem; }
.figures div { display: flex; flex-direction: column; }
.figures dt { color: var(--soft); font-size: .875rem; }
.figures dd { margin: 0; font-size: 1.1875rem; font-weight: 600; line-height: 1.35; }
.figures small { display: block; font-weight: 400; }

figure { margin: 0 0 1.5rem; max-width: 27rem; }
figcaption { margin-bottom: .35rem; font-weight: 600; font-size: .9375rem; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { unicode-bidi: isolate; font-variant-numeric: tabular-nums; }
.legend { display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; margin: .25rem 0 0; padding: 0; list-style: none; font-size: .8125rem; color: var(--soft); }
.legend li[class]::before { content: ""; display: inline-block; margin-right: .4em; border: .35em solid var(--key); }
.key-fall { --key: var(--accent); } .key-rise { --key: var(--line-5); }
.key-changed { --key: var(--accent); } .key-new { --key: var(--accent-soft); }
.key-relisted { --key: var(--soft); } .key-removed { --key: var(--faint); }

.frame { margin: 0 0 1.75rem; overflow-x: auto;
  background: linear-gradient(to right, var(--paper) 40%, transparent) left / 3rem 100% no-repeat local,
    linear-gradient(to left, var(--paper) 40%, transparent) right / 3rem 100% no-repeat local,
    linear-gradient(to right, var(--edge), transparent) left / .9rem 100% no-repeat scroll,
    linear-gradient(to left, var(--edge), transparent) right / .9rem 100% no-repeat scroll; }
:root { --edge: rgb(0 0 0 / .16); }
@media screen and (prefers-color-scheme: dark) { :root { --edge: rgb(255 255 255 / .2); } }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; line-height: 1.4; }
caption { padding: 0 0 .5rem; text-align: left; font-size: .875rem; color: var(--soft); }
caption span { position: sticky; left: 0; display: inline-block; max-width: min(44rem, calc(100vw - 2.5rem)); }
th, td { padding: .5rem .9rem .5rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
th { font-weight: 400; }
thead th { border-top: 0; color: var(--soft); font-size: .8125rem; vertical-align: bottom; }
.number { text-align: right; }
td.number, .money, .frame time { white-space: nowrap; }
td small, tbody th small { display: block; line-height: 1.35; white-space: normal; }
.money small { display: inline; }

.cards tbody th { min-width: 9rem; overflow-wrap: anywhere; }
.frame tbody th, .frame thead th:first-child { position: sticky; left: 0; background: var(--paper); }
thead button { all: unset; box-sizing: border-box; cursor: pointer; color: inherit; }
thead button:hover { color: var(--ink); text-decoration: underline; text-underline-offset: .2em; }
thead button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
thead button::after { content: "\\2195"; content: "\\2195" / ""; display: inline-block; width: 1em; text-align: right; color: var(--faint); }
[aria-sort="ascending"] button, [aria-sort="descending"] button { color: var(--ink); font-weight: 600; }
[aria-sort="ascending"] button::after { content: "\\2191"; content: "\\2191" / ""; color: var(--accent); }
[aria-sort="descending"] button::after { content: "\\2193"; content: "\\2193" / ""; color: var(--accent); }
[hidden] { display: none !important; }
.all { display: none; gap: .5rem; align-items: center; padding: .6rem 0; border-top: 1px solid var(--line); font-size: .9375rem; }
.all input { width: 1.25rem; height: 1.25rem; margin: 0; accent-color: var(--accent); }
@media screen and (min-width: 44.01rem) { .all.wide-too { display: flex; } .all span span { display: none; }
  .cards:not(.long):has(.all input:not(:checked)) tbody tr:nth-child(n + 11),
    .cards.long:has(.all input:not(:checked)) tbody tr:nth-child(n + 51) { display: none; } }
.tools { margin: -.75rem 0 1.75rem; font-size: .875rem; }
.tools button { all: unset; cursor: pointer; color: var(--soft); text-decoration: underline; text-decoration-color: var(--faint); text-underline-offset: .15em; }
.tools button:hover { color: var(--accent); }
.tools button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }

details { margin: 0 0 1.25rem; }
summary { padding: .35rem 0; cursor: pointer; color: var(--soft); font-size: .9375rem; width: fit-content; }
summary:hover { color: var(--ink); }
td details { margin: 0; }
td summary { padding: 0; }
details > .frame { margin: .5rem 0 1.75rem; }
.whole { white-space: nowrap; }
.finding { margin: 0 0 1.25rem; padding: .9rem 1.1rem .4rem; background: var(--panel); border-left: 3px solid var(--warn); }
.finding.grave { border-color: var(--bad); }
.finding p { margin-bottom: .5rem; }
.finding .frame { --paper: var(--panel); }
.finding h3, .finding h2 { overflow-wrap: anywhere; }
.finding h2 { margin: 0 0 .25rem; font-size: 1.0625rem; }
.finding .next::before { content: "\\2192  "; content: "\\2192  " / ""; color: var(--soft); }
.tag { display: inline-block; color: var(--warn); font-size: .8125rem; font-weight: 400; letter-spacing: 0; }
.grave .tag, .bad { color: var(--bad); }
small.attention { color: var(--warn); }
.product { margin: 0; border-top: 1px solid var(--line); scroll-margin-top: 1rem; }
.product summary { width: auto; padding: .5rem 0; color: var(--ink); font-size: 1rem; overflow-wrap: anywhere; }
.product[open] summary { font-weight: 600; }
.product summary small { font-weight: 400; }
.prices { margin: 0; min-width: 0; }
.plot { position: relative; display: grid; grid-template: minmax(0, 1fr) auto / auto minmax(0, 1fr); gap: .35rem .5rem; height: 20rem;
  font-size: .75rem; color: var(--soft); }
.plot .scale { display: flex; flex-direction: column; justify-content: space-between; text-align: right; line-height: 0; }
.plot .days { grid-column: 2; display: flex; justify-content: space-between; }
.plot .lines { height: 100%; overflow: hidden; }
.lines path { fill: none; vector-effect: non-scaling-stroke; }
.lines .price { stroke: var(--own); stroke-width: 2; stroke-linejoin: round; }
.lines .line-1 { stroke-width: 3; }
.lines .line-rest { stroke-width: 1; }
.lines .aside { stroke-dasharray: 4 4; }
.lines .own { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 8 4; }
.lines .hit { fill: none; pointer-events: all; }
.line-1 { --own: var(--accent); } .line-2 { --own: var(--line-2); } .line-3 { --own: var(--line-3); } .line-4 { --own: var(--line-4); }
.line-5 { --own: var(--line-5); } .line-6 { --own: var(--line-6); } .line-7 { --own: var(--line-7); } .line-8 { --own: var(--line-8); }
.line-rest { --own: var(--faint); } .own { --own: var(--ink); }
.spark { width: 6rem; height: 1.5rem; overflow: hidden; }
.number .spark { margin-left: auto; }
.range { display: inline-block; width: 8rem; height: 1rem; vertical-align: -.2em; margin-right: .5rem; overflow: visible; }
.range path { fill: none; stroke: var(--accent-soft); stroke-width: 5; vector-effect: non-scaling-stroke; }
.range .median { stroke: var(--ink); stroke-width: 3; } .range .reference { stroke: var(--faint); stroke-width: 1; }
.spark path { fill: none; stroke: var(--accent); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.moves { max-width: none; } .moves .plot { height: 10rem; }
.fall { fill: var(--accent); } .rise { fill: var(--line-5); }
.places { max-width: 44rem; } .places svg { height: .75rem; }
.place-1 { fill: var(--accent); --key: var(--accent); } .place-2 { fill: var(--accent-soft); --key: var(--accent-soft); }
.place-3 { fill: var(--line-5); --key: var(--line-5); } .place-4 { fill: var(--faint); --key: var(--faint); }
.legend [aria-current] { color: var(--ink); font-weight: 600; }
.cursor { position: absolute; top: 0; bottom: 1.5rem; width: 1px; background: var(--soft); pointer-events: none; }
.tip { position: absolute; top: 0; z-index: 1; min-width: 11rem; max-width: 18rem; padding: .4rem .6rem; pointer-events: none;
  font-size: .8125rem; line-height: 1.35; background: var(--paper); border: 1px solid var(--faint); border-radius: .3rem; }
.tip p { margin: 0 0 .2rem; color: var(--soft); }
.tip div { display: flex; gap: .75rem; justify-content: space-between; }
.tip div span:first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.tip div span:first-child::before { content: ""; display: inline-block; margin-right: .4em; border: .3em solid var(--own); }
.spans { display: flex; gap: .25rem; margin: 0 0 .5rem; padding: 0; list-style: none; font-size: .8125rem; }
.spans a { display: block; padding: .15rem .6rem; border: 1px solid transparent; border-radius: .3rem; text-decoration: none; color: var(--soft); }
.spans a:hover { color: var(--accent); }
.spans [aria-current] { color: var(--ink); border-color: var(--faint); background: var(--panel); font-weight: 600; }
.split { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem 2.5rem; align-items: start; }
@media (min-width: 64rem) { .split { grid-template-columns: minmax(0, 1fr) 24rem; } }
.split h2 { font-size: .9375rem; margin: 0 0 .35rem; }
.verdict-line { font-size: 1.0625rem; }
.matrix { width: auto; } .matrix th[scope="row"] { min-width: min(18rem, 40vw); max-width: 18rem; overflow-wrap: anywhere; }
.matrix thead small { display: block; } .matrix thead th { min-width: 6rem; max-width: 10rem; } .matrix thead th a { white-space: normal; }
.matrix .cheapest { background: var(--panel); } .matrix .cheapest strong, .matrix .cheapest small { color: var(--accent); }
.groups { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr)); gap: 0 2.5rem; }
.more { flex-basis: 100%; margin: 0; }
.settings { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: .75rem 1.5rem; padding: .5rem 0; }
.settings > div { min-width: 0; } .filters .settings label { max-width: 100%; }
.filters .settings small { display: block; margin-top: .3rem; }
.plain { margin: 0 0 1rem; padding: 0; list-style: none; font-size: .9375rem; }
.plain li { margin: 0 0 .35rem; }
.credits { margin: 0; padding: 0; list-style: none; max-width: 52rem; }
.credits li { padding: .6rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; white-space: pre-line; }
.credits small { display: block; white-space: normal; }

@media screen and (max-width: 44rem) {
  h1 { font-size: 1.625rem; }
  section { padding-top: 2.25rem; }
  .figures { grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); }
  .cards table, .cards tbody, .cards thead, .cards caption { display: block; }
  .cards thead tr, .cards tbody tr { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: .1rem .75rem; }
  .cards thead th { padding: 0 0 .35rem; text-align: left; overflow-wrap: anywhere; } .cards thead th:first-child { grid-column: 1 / -1; }
  .cards thead button, .cards thead th a { padding: .35rem 0; white-space: normal; }
  .cards tbody tr { padding: .4rem 0; border-top: 1px solid var(--line); }
  .all { display: flex; }
  .cards:has(.all input:not(:checked)) .rest, .cards:not(.long):has(.all input:not(:checked)) tbody tr:nth-child(n + 6),
    .cards.long:has(.all input:not(:checked)) tbody tr:nth-child(n + 26) { display: none; }
  .cards tbody th, .cards tbody td, .cards thead th { position: static; }
  .cards tbody th, .cards tbody td { display: block; padding: 0; border: 0; text-align: left; min-width: 0; white-space: normal; }
  .cards tbody th { grid-column: 1 / -1; font-weight: 600; }
  .cards .line { grid-column: 1 / -1; }
  .cards tbody th small { font-weight: 400; }
  .cards .number .spark { margin-left: 0; }
  .cards .range { display: block; width: 100%; margin: 0; }
  .cards td time, .cards td .whole { white-space: normal; }
  .cards:not(:has(.all :checked)) tbody bdi { display: -webkit-box; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 2; }
  .cards:not(:has(.all :checked)) td small bdi { -webkit-line-clamp: 1; word-break: break-all; }
  .cards:has(.all input:not(:checked)) tbody th small { display: none; }
  .cards:has(.all :checked) thead th:not([aria-sort]) { display: none; }
  .cards:has(.all :checked) tbody tr { grid-template-columns: repeat(auto-fill, minmax(6.75rem, 1fr)); gap: .35rem .75rem; padding: .7rem 0; }
  .cards:has(.all :checked) tbody td:empty, .cards:has(.all :checked) tbody td:has(> .none:only-child) { display: none; }
  .cards:has(.all :checked) td::before { content: attr(data-label); display: block; color: var(--soft); font-size: .75rem; }
}

@media print {
  @page { margin: 1.5cm; }
  html { font-size: 9pt; }
  nav, .tools, thead button { display: none !important; }
  thead [data-label]::before { content: attr(data-label); }
  .frame { overflow: visible; }
  tr, figure, .finding, .credits li { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; }
  section { padding-top: 1.5rem; }
  .figures { grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); }
  a { text-decoration: none; }
  details:not([open]) { display: none; }
}
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
.bar nav { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1.25rem; }
.bar .views { position: relative; margin: 0; } .bar .views summary { padding: .25rem 0; font-size: 1rem; color: inherit; }
.bar .menu { padding: .5rem 0; } .bar .menu form { max-width: none; display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
.bar .menu input { width: 12rem; } .bar .menu ul { margin: 0 0 .35rem; } .bar .menu p { margin: 0 0 .5rem; font-size: .875rem; }
.bar .menu button, td button { padding: .35rem .8rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--faint); border-radius: .3rem; cursor: pointer; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
main.wide { padding-top: 1.5rem; min-height: 60vh; }
footer.wide { margin-top: 3rem; padding-top: 1rem; padding-bottom: 2rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .875rem; }
main:focus { outline: none; }
h1 { font-size: 1.625rem; margin-bottom: 1rem; }
h1 + .about, h2 + .about { margin: -.6rem 0 1.25rem; }
section { padding-top: 2rem; }
section h3 { margin-top: 1rem; }
thead th a { color: inherit; text-decoration: none; }
thead th a:hover { text-decoration: underline; }
thead th[aria-sort="none"] a::after { content: " \\2195"; content: " \\2195" / ""; color: var(--faint); }
thead th[aria-sort="ascending"] a::after { content: " \\2191"; content: " \\2191" / ""; color: var(--accent); }
thead th[aria-sort="descending"] a::after { content: " \\2193"; content: " \\2193" / ""; color: var(--accent); }
[aria-sort="ascending"] a, [aria-sort="descending"] a { color: var(--ink); font-weight: 600; }
.tools { display: block; color: var(--soft); }
.tools a { color: var(--soft); }
.filters { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .9rem; margin: 0 0 1.25rem; font-size: .9375rem; }
.filters label { display: inline-flex; align-items: center; gap: .4rem; color: var(--soft); min-width: 0; }
.filters select { max-width: 16rem; min-width: 0; }
.filters input { width: 10rem; } .filters input[placeholder]:not([placeholder=""]) { field-sizing: content; width: auto; min-width: 10rem; max-width: 20rem; }
.pair { display: inline-flex; flex-wrap: wrap; gap: .5rem .9rem; min-width: 0; } .filters input[name="q"] { width: 14rem; }
.filters input[name^="min_"], .filters input[name^="max_"], .filters input[name="suggest_minus"] { width: 5rem; }
.filters input, .filters select, .sql textarea { padding: .4rem .6rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--faint); border-radius: .3rem; }
.filters button, .sql button { padding: .4rem .9rem; font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--faint); border-radius: .3rem; cursor: pointer; }
.filters small { flex-basis: 100%; margin-top: -.3rem; }
.filters input[type="checkbox"] { width: auto; } .boxes { display: flex; flex-wrap: wrap; gap: .35rem 1.25rem; padding: .35rem 0; }
.pager { display: flex; gap: 1.25rem; margin: 0 0 1.5rem; border: 0; font-size: .9375rem; }
.pager a { padding: 0; text-decoration: underline; }
.sql { margin-bottom: 1.25rem; } .sql label { display: block; margin-bottom: .4rem; color: var(--soft); }
.sql textarea { display: block; width: 100%; max-width: 60rem; margin-bottom: .6rem; font: .9375rem/1.5 ui-monospace, monospace; }
pre { max-width: 100%; overflow-x: auto; padding: .9rem 1.1rem; background: var(--panel); font: .875rem/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
code { font: .9375em ui-monospace, monospace; overflow-wrap: anywhere; }
.cards tbody th.number { min-width: 0; }
.list { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.5rem; max-width: 70rem; }
.list dd, .columns dd { margin: 0; }
.names details { margin: 0; }
.columns { margin: .25rem 0 1rem 1rem; font-size: .9375rem; }
.columns dd { margin: 0 0 .4rem 1rem; color: var(--soft); }
.depth-1 { margin-left: 1.25rem; } .depth-2 { margin-left: 2.5rem; } .depth-3 { margin-left: 3.75rem; } .depth-4 { margin-left: 5rem; }
.picture { float: right; max-width: 9rem; max-height: 9rem; margin: 0 0 .75rem 1.25rem; }
.chart { max-width: 30rem; } .chart.prices, .chart.moves { max-width: none; }
.chart figcaption { font-weight: 400; font-size: .8125rem; color: var(--soft); margin-top: .35rem; }
@media screen and (max-width: 44rem) {
  .wide { padding-inline: 1rem; }
  .list { display: block; } .list dd { margin: 0 0 .75rem; }
  .filters { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); align-items: end; }
  .filters label, .pair { display: grid; gap: .15rem; } .pair { grid-template-columns: subgrid; grid-column: 1 / -1; gap: inherit; }
  .filters input, .filters select, .filters input[name] { width: 100%; max-width: none; min-width: 0; }
  .filters .boxes label { display: flex; } .filters .boxes input, .filters input[type="checkbox"] { width: auto; }
  .filters > button, .filters > a { justify-self: start; } .filters > .more, .filters > small { grid-column: 1 / -1; }
}
@media print { .bar form, .bar nav, .filters, .pager, .tools { display: none; } }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: .5rem 2.5rem; align-items: start; }
.legend [class^="line-"], .legend .own { --key: var(--own); }
.find { margin: 0 0 .75rem; font-size: .9375rem; color: var(--soft); }
.find input { margin-left: .4rem; padding: .4rem .6rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--faint); border-radius: .3rem; }
.written article { padding-top: 2rem; scroll-margin-top: 1rem; border-top: 1px solid var(--line); margin-top: 2.5rem; }
.written article:first-child { padding-top: 0; margin-top: 0; border: 0; }
.written .product article { padding-top: 0; margin-top: 0; border: 0; }
.written section { padding-top: 1.5rem; }
.written .about { flex: 1 1 20rem; }
@media print { .written .bar { border: 0; } .wide { max-width: none; padding: 0; } .charts { grid-template-columns: 1fr 1fr; } }
`;
