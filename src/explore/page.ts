import type { Advice } from '../check/finding.js';
import { type Content, type Html, html } from '../formats/html.js';
import { onlyIn } from './edition.js';
import { foreign, moment } from './format.js';
import type { CopyNow } from './now.js';
import type { Answer, Question } from './question.js';
import type { Snapshot } from './snapshot.js';

/** A request for a page, and the lake snapshot from which to answer it. */
export interface PageRequest {
  snapshot: Snapshot;
  /** The query parameters of the address. */
  search: URLSearchParams;
  /** Runs a query on the snapshot. @throws PricelakeError `query` if the query fails */
  ask(question: Question): Promise<Answer>;
  /** A signal that is aborted when the browser disconnects. */
  signal: AbortSignal;
  now: Date;
  /** Returns facts about the local copy that its tables don't contain, such as the state of an unfinished run. */
  tellNow(): Promise<CopyNow>;
  /** The hosts from which the reader allows pictures. */
  pictures: ReadonlySet<string>;
  /** True if price alerts can be written to the list that this server shows. */
  canSetAlarms: boolean;
  /** Advice on how to handle findings, keyed by the name of the check that found them. */
  advice: ReadonlyMap<string, Advice>;
}

export interface Page {
  title: string;
  body: Content;
  /** The HTTP status; 200 if it is missing. */
  status?: 400;
  /**
   * The address for links to this page. It is set if one path can show several things, such as a product in several
   * currencies.
   */
  address?: string;
  /** A note that follows the title wherever pages are listed. */
  note?: string;
  /** The number of seconds after which the browser reloads the page, because rows are still being prepared. */
  again?: number;
}

/** Renders a page. `parameter` is the last segment of the path. Returns undefined if the lake has no such page. */
export type MakePage = (request: PageRequest, parameter: string) => Page | undefined | Promise<Page | undefined>;

export const PLACES = [
  ['/', 'Today'],
  ['/products', 'Products'],
  ['/shops', 'Shops'],
  ['/categories', 'Categories'],
  ['/list', 'My list'],
  ['/analyses', 'Analyses'],
  ['/copy', 'Copy'],
  ['/sql', 'SQL'],
] as const;

/** The path of the page that lists search results. */
const SEARCHED = '/products';

const NOTHING_YET = html`<div class="finding slight"><p>Nothing is published in this lake yet, so pages are empty. They fill when a run of <code>pricelake sync</code> has ended; <a href="/copy">Copy</a> says how far one is.</p></div>
`;

/** Renders a link in the menu. The SQL page is left out on shared servers, which don't run their readers' SQL. */
function renderPlace(address: string, label: string, isCurrent: boolean): Html {
  const link = html`<li><a href="${address}"${isCurrent ? html` aria-current="page"` : ''}>${label}</a></li>`;
  return address === '/sql' ? onlyIn('own', link) : link;
}

/** Renders a whole page: search and navigation above the body, the run and credits below it. */
export function renderPage({ title, body, again }: Page, { snapshot, path, query, menu }: PageFrame): Html {
  const { run, name } = snapshot;
  const place = PLACES.findLast(
    ([address]) => path === address || (address !== '/' && path.startsWith(`${address}/`)),
  )?.[0];
  // On the products page, the search box belongs to the filter form.
  const form = path === SEARCHED ? html` form="filters"` : '';
  const asOf = run === undefined ? ': no run is published yet' : html` as of run ${run.number}, ${moment(run.at)}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${again === undefined ? '' : html`<noscript><meta http-equiv="refresh" content="${again}"></noscript>`}
<title>${title} · ${name}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<script src="/page.js" defer></script>
</head>
<body${again === undefined ? '' : html` data-again="${again}"`}>
<a class="skip" href="#main">To the content</a>
<header class="bar"><div class="wide">
<p class="brand"><a href="/">${foreign(name, 40)}</a></p>
<form action="/products" role="search"><input type="search" name="q" value="${query}"${form} placeholder="Title, brand, GTIN or part number" aria-label="Find products" autocomplete="off" spellcheck="false"></form>
<nav aria-label="Pages"><ul>${PLACES.map(([address, label]) => renderPlace(address, label, address === place))}</ul>${menu}</nav>
</div></header>
<main id="main" class="wide" tabindex="-1">
<h1>${foreign(title, 200)}</h1>
${run === undefined ? NOTHING_YET : ''}${body}
</main>
<footer class="wide"><p>${foreign(name)}${asOf}. <span id="zone">Times are UTC.</span> Money is exact; percentages and charts are rounded. <a href="/credits">Credits and licenses</a></p></footer>
</body>
</html>
`;
}

export interface Figure {
  name: string;
  value: Content;
  note?: Content;
}

export function renderFigures(figures: readonly Figure[]): Html {
  return html`<dl class="figures">${figures.map(
    ({ name, value, note }) =>
      html`<div><dt>${name}</dt><dd>${value}${note === undefined || note === '' ? '' : html` <small>${note}</small>`}</dd></div>\n`,
  )}</dl>`;
}

export interface PageFrame {
  snapshot: Pick<Snapshot, 'run' | 'name'>;
  path: string;
  /** The text that the search box contains. */
  query: string;
  /** The content of the menu below the links to pages. */
  menu: Content;
}

export function renderSection(title: string, body: Content): Html {
  return html`<section><h2>${title}</h2>
${body}
</section>
`;
}

/** Builds the address of a page with changed query parameters. Parameters with an empty value are removed. */
export function changeAddress(path: string, search: URLSearchParams, changes: Record<string, string>): string {
  const next = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) next.set(name, value);
  for (const [name, value] of [...next]) if (value === '') next.delete(name);
  return next.size === 0 ? path : `${path}?${next}`;
}

/** Reads the sort order from the address; undefined for the default order. */
export function readOrder(search: URLSearchParams): Question['order'] {
  const by = search.get('sort');
  return by === null || by === '' ? undefined : { by, isDescending: search.get('order') === 'desc' };
}

/** Reads the number of rows to skip from the address; 0 if it is missing or invalid. */
export function readOffset(search: URLSearchParams, name = 'from'): number {
  const given = Number(search.get(name));
  return Number.isSafeInteger(given) && given > 0 ? given : 0;
}

const ROWS = 50;
const MOST_ROWS = 1000;

/** Reads the number of rows per page from the address: 50 by default, 1,000 at most. */
export function readLimit(search: URLSearchParams): number {
  const given = Number(search.get('rows') ?? ROWS);
  return Number.isSafeInteger(given) && given > 0 ? Math.min(given, MOST_ROWS) : ROWS;
}

/** Renders fields as a form that sets query parameters. The form also submits the values in `kept` as hidden fields. */
export function renderFilters(
  path: string,
  fields: readonly Content[],
  kept: Record<string, string> = {},
  { isFirst = true } = {},
): Html {
  const hidden = Object.entries(kept).map(([name, value]) =>
    value === '' ? '' : html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return onlyIn(
    'served',
    html`<form${isFirst ? html` id="filters"` : ''} class="filters" action="${path}">${fields}${hidden}<button>Show</button></form>`,
  );
}

export interface Choice {
  value: string;
  label: string;
}

/** Renders a drop-down list. Adds the chosen value if it is not among the choices, so that the list shows it. */
export function renderChoice(name: string, label: string, choices: readonly Choice[], chosen: string): Html {
  const isKnown = chosen === '' || choices.some(({ value }) => value === chosen);
  const all = isKnown ? choices : [...choices, { value: chosen, label: chosen }];
  return html`<label>${label} <select name="${name}">${all.map(({ value, label: text }) => html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`)}</select></label>\n`;
}

export function renderField(name: string, label: string, value: string, hint = ''): Html {
  return html`<label>${label} <input name="${name}" value="${value}" placeholder="${hint}" autocomplete="off" spellcheck="false"></label>\n`;
}

export function renderDate(name: string, label: string, value: string): Html {
  return html`<label>${label} <input type="date" name="${name}" value="${/^\d{4}-\d\d-\d\d$/u.test(value) ? value : ''}"></label>\n`;
}
