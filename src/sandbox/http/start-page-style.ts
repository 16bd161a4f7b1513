/** Style of the start page: light and dark, readable on a phone; long lines of code wrap, and copy as one. */
export const START_PAGE_STYLE = `
:root { color-scheme: light dark; --ink: #1c2321; --soft: #5a6662; --line: #d9dfdc; --paper: #fbfcfb; --code: #eef2f0; --accent: #0b6b53; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4eae7; --soft: #9aa8a3; --line: #2f3a36; --paper: #131917; --code: #1d2623; --accent: #6fd0b2; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 3rem; }
h1 { margin: 0 0 .5rem; font-size: 1.75rem; line-height: 1.2; letter-spacing: -.01em; }
h2 { margin: 2.25rem 0 .6rem; font-size: 1.1rem; }
p { margin: 0 0 .75rem; }
a { color: var(--accent); }
dl, dd, ul { margin: 0; padding: 0; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875rem; }
code { overflow-wrap: anywhere; }
pre { margin: 0 0 1rem; padding: .85rem 1rem; background: var(--code); border-radius: .4rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: 1.1rem 1rem; margin-top: 1.5rem;
  padding: 1.1rem 0; border-block: 1px solid var(--line); }
.figures div { display: flex; flex-direction: column-reverse; }
.figures dd { font-size: 1.2rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.figures dt, small, footer { color: var(--soft); font-size: .875rem; }
.readings div { padding: .45rem 0; border-top: 1px solid var(--line); }
.readings dd { color: var(--soft); }
.access div { display: grid; grid-template-columns: 6.5rem 1fr; gap: 0 1rem; padding: .45rem 0; }
.access dt { color: var(--soft); }
.access code { user-select: all; }
small { display: block; }
.endpoints { list-style: none; }
.endpoints li { display: grid; grid-template-columns: 15rem 1fr; gap: 0 1rem; padding: .4rem 0; border-top: 1px solid var(--line); }
.endpoints span { color: var(--soft); }
footer { margin-top: 2.5rem; }
@media (max-width: 34rem) {
  main { padding-top: 1.5rem; }
  .access div, .endpoints li { grid-template-columns: 1fr; }
}
`;
