import { createHash } from 'node:crypto';
import { toProductId } from '../analyze/known-values.js';
import { requireKnown } from '../analyze/spread-selection.js';
import type { Advice } from '../check/finding.js';
import { type Content, Html, html } from '../formats/html.js';
import { PricelakeError } from '../io/errors.js';
import type { Lake } from '../tables/layout.js';
import { productPath } from './cells.js';
import { printEdition } from './edition.js';
import { foreign, moment } from './format.js';
import type { CopyNow } from './now.js';
import type { Page, PageRequest } from './page.js';
import { categoriesPage } from './pages/categories.js';
import { copyPage } from './pages/copy.js';
import { creditsPage } from './pages/credits.js';
import { listPage } from './pages/list.js';
import { MATRIX_PATH, matrixPage } from './pages/matrix.js';
import { productPage } from './pages/product.js';
import { askForProducts, productsPage } from './pages/products.js';
import { renderLeaders, shopPage, shopsPage } from './pages/shops.js';
import { todayPage } from './pages/today.js';
import { ask, type Question } from './question.js';
import { PAGE_SCRIPT } from './script.js';
import { Snapshot, type SnapshotOptions } from './snapshot.js';
import { PAGE_STYLE } from './style.js';
import { type ReadValue, readAll, readFirst, toText } from './values.js';

/** The moment that the report compares with: a run number, where 0 means before the first run, or a UTC time. */
export type Since = { run: bigint } | { time: string };

export interface ReportOptions extends Omit<SnapshotOptions, 'signal'> {
  /** An ISO 4217 code; undefined for all currencies. */
  currency: string | undefined;
  /** The minimum number of shops per product. Defaults to four, or to the most shops of any product if that is less. */
  minShops: number | undefined;
  /** The number of products to include, those with the widest spreads first. */
  top: number;
  /** Ids of products to include in addition to those with the widest spreads. */
  products: readonly string[];
  /** The moment to compare with. Defaults to the moment that the Today page compares with. */
  since: Since | undefined;
  /** The reader's own shop, for which the report has a page. */
  ownSite: bigint | undefined;
  advice: ReadonlyMap<string, Advice>;
  /** The processes that worked on runs, without local paths, because the report may be shared. */
  tries: CopyNow['tries'];
  now: Date;
  version: string;
  signal: AbortSignal;
}

/** A page inside the report. */
interface Part {
  id: string;
  /** The address that this page has on a server. */
  address: string;
  page: Page;
  /** True for a product's page. The report shows these pages collapsed. */
  isProduct?: boolean;
}

/** The HTML document, and the data that the command summarizes. */
export interface Report {
  page: string;
  overview: ReadValue;
  /** The rows of report_runs.sql, newest first. */
  runs: ReadValue[];
  checks: ReadValue[];
  summary: ReadValue;
  /** The ids of the products for which the report has a separate page. */
  products: string[];
  /** License texts that must accompany the data. */
  credits: readonly string[];
}

/** A tag that identifies an HTML file as a report. It is near the start of the file. */
export const REPORT_MARK = '<meta name="generator" content="pricelake report">';

/** Pictures are off, because a report makes no network requests. */
const NO_HOSTS: ReadonlySet<string> = new Set();
/** Parameters that show all rows on one page, because a report has no pager. */
const ALL = { rows: '1000' };
const MOST_RUNS = 10;
const MOST_CHECKS = 500;

/**
 * Renders the pages of a lake as one HTML document that makes no network requests.
 * @throws PricelakeError `usage` if the lake has no such currency, product, run or shop, or `lake_invalid` if the lake
 *   can't be read
 */
export async function writeReport(lake: Lake, options: ReportOptions): Promise<Report> {
  const snapshot = await Snapshot.open(lake, options);
  try {
    await snapshot.whole;
    return await writePages(snapshot, options);
  } finally {
    await snapshot.close();
  }
}

async function writePages(snapshot: Snapshot, options: ReportOptions): Promise<Report> {
  const { currency = '', minShops, top, since, ownSite, list, advice, now, signal } = options;
  await requireKnown(snapshot, { currency: options.currency });
  await requireSince(snapshot, since);
  // Leaves out the state of an unfinished run, because that state will have changed by the time the report is read.
  const tellNow = async (): Promise<CopyNow> => ({ lines: [], tries: options.tries, remote: { kind: 'unasked' } });
  const askNow = (question: Question) => ask(snapshot, question, signal);
  const request = (values: Record<string, string> = {}): PageRequest => {
    const search = new URLSearchParams(Object.entries({ currency, ...values }).filter(([, value]) => value !== ''));
    return { snapshot, search, ask: askNow, signal, now, advice, pictures: NO_HOSTS, tellNow, canSetAlarms: false };
  };
  const summary = readFirst(
    await askNow({ analysis: 'spread_summary', set: { currency, min_shops: String(minShops ?? '') }, limit: 1 }),
  );
  const overview = readFirst(await askNow({ analysis: 'report_overview', set: {}, limit: 1 }));
  const runs = readAll(await askNow({ analysis: 'report_runs', set: {}, limit: MOST_RUNS }));
  const checks = readAll(await askNow({ analysis: 'report_checks', set: {}, limit: MOST_CHECKS }));

  const widest = request({ min_shops: toText(summary('min_shops')) ?? '', grade: 'B', rows: String(top) });
  const moment = since === undefined ? '' : 'run' in since ? String(since.run) : since.time;
  const found = readAll(await askNow(askForProducts(widest.search)));
  const table = await productsPage(widest);
  const shown = found.map((read) => ({ product: String(read('product_id')), currency: String(read('currency')) }));
  const named = options.products.map((product) => ({ product: toProductId(product), currency }));
  const products = await makeProducts([...named, ...shown], request);
  const parts: Part[] = [
    { id: 'today', address: '/', page: await todayPage(request({ since: moment })) },
    { id: 'products', address: '/products', page: table },
    ...products,
    ...(list === undefined
      ? []
      : [
          { id: 'list', address: '/list', page: await listPage(request(ALL)) },
          { id: 'matrix', address: MATRIX_PATH, page: await matrixPage(request(ALL)) },
        ]),
    { id: 'shops', address: '/shops', page: await shopsPage(request(ALL)) },
    ...(ownSite === undefined ? [] : [await makeShop(ownSite, request())]),
    { id: 'categories', address: '/categories', page: await categoriesPage(request()) },
    { id: 'copy', address: '/copy', page: await copyPage(request()) },
    { id: 'credits', address: '/credits', page: await creditsPage(request()) },
  ];
  return {
    page: renderDocument(parts, snapshot, options),
    ...{ overview, runs, checks, summary },
    products: products.map(({ product }) => product),
    credits: snapshot.credits,
  };
}

async function requireSince(snapshot: Snapshot, since: Since | undefined): Promise<void> {
  if (since === undefined || !('run' in since) || since.run === 0n) return;
  const known = await snapshot.rows('SELECT 1 FROM runs WHERE run_number = $1', [since.run]);
  if (known.length > 0) return;
  throw new PricelakeError('usage', `--since ${since.run}: the lake doesn't have this run`);
}

interface ProductPart extends Part {
  product: string;
}

/**
 * Renders the page of each product once, in the order of `wanted`.
 * @throws PricelakeError `usage` if a product has no listed offer with a price
 */
async function makeProducts(
  wanted: readonly { product: string; currency: string }[],
  request: (values: Record<string, string>) => PageRequest,
): Promise<ProductPart[]> {
  const made = await Promise.all(
    wanted.map(async ({ product, currency }) => ({
      ...{ product, currency },
      page: await productPage(product, request(currency === '' ? {} : { currency })),
    })),
  );
  const missing = made.filter(({ page }) => page === undefined).map(({ product }) => product);
  if (missing.length > 0) {
    throw new PricelakeError('usage', `--product ${missing.join(', ')} has no listed offer with a price`, {
      hint: 'Product ids are in the product_id column, for example in `pricelake spread --format csv`.',
    });
  }
  const once = new Map(
    made.flatMap((one) => (one.page === undefined ? [] : [[one.page.address, { ...one, page: one.page }]])),
  );
  return [...once.values()].map(({ product, page }, k) => ({
    ...{ product, page },
    id: `product-${k + 1}`,
    address: page.address ?? productPath(product),
    isProduct: true,
  }));
}

/** Renders a shop's page and its price leaders. @throws PricelakeError `usage` if the lake has no such shop */
async function makeShop(site: bigint, request: PageRequest): Promise<Part> {
  const page = await shopPage(String(site), request);
  if (page === undefined) throw new PricelakeError('usage', `--own-site ${site}: not a site_id in the sites table`);
  const body = html`${page.body}${await renderLeaders(String(site), request)}`;
  return { id: 'own-shop', address: `/shops/${site}`, page: { ...page, body } };
}

function renderDocument(
  parts: readonly Part[],
  { name, run }: Snapshot,
  { now, version, currency }: ReportOptions,
): string {
  const places = new Map(parts.flatMap(({ id, address }) => [[address, `#${id}`] as const]));
  places.set('/copy#checks', '#checks');
  const links = parts.filter(({ isProduct }) => isProduct !== true);
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
${new Html(REPORT_MARK)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${name}: price report</title>
<link rel="icon" href="data:,">
<style>${new Html(PAGE_STYLE)}</style>
</head>
<body class="written">
<header class="bar"><div class="wide">
<h1 class="brand">${foreign(name)}</h1>
<p class="about">Price report${currency === undefined ? '' : html`, prices in ${currency}`}${run === undefined ? '' : html`, as of run ${run.number}, ${moment(run.at)}`}; made ${moment(now)}</p>
<nav aria-label="Parts of this report"><ul>${links.map(({ id, page }) => html`<li><a href="#${id}">${foreign(page.title, 60)}</a></li>\n`)}</ul></nav>
</div></header>
<main class="wide">
${parts.map((part) => renderPart(part, places))}</main>
<footer class="wide"><p>Made by pricelake ${version} from the published tables of the lake. <span id="zone">Times are UTC.</span> Money is exact; percentages and charts are rounded. This page asks for nothing from the network.</p></footer>
<script>${new Html(PAGE_SCRIPT)}</script>
</body>
</html>
`;
  return document.text;
}

/** Renders one page of the report. A product's page is collapsed, and browsers expand it when a link leads there. */
function renderPart({ id, page, isProduct }: Part, places: ReadonlyMap<string, string>): Content {
  const article = html`<article id="${id}" aria-label="${page.title}">
<h2>${foreign(page.title, 200)}</h2>
${new Html(fitInto(printEdition(html`${page.body}`, 'written'), places))}
</article>
`;
  return isProduct === true
    ? html`<details class="product"><summary>${foreign(page.title, 120)} <small>${page.note}</small></summary>${article}</details>\n`
    : article;
}

/**
 * Moves the headings of a page down by one level, and points its links to parts of the document. Links to other pages
 * become plain text. Text from the service is escaped, so it is never mistaken for a tag.
 */
function fitInto(text: string, places: ReadonlyMap<string, string>): string {
  return text
    .replaceAll(/<(\/?)h([2-5])(?=[ >])/gu, (_, slash, level) => `<${slash}h${Number(level) + 1}`)
    .replaceAll(/<a href="(\/[^"]*)"[^>]*>(.*?)<\/a>/gsu, (_, address, content) => {
      const place = places.get(address.replaceAll('&amp;', '&').replaceAll('&#39;', "'"));
      return place === undefined ? `<span>${content}</span>` : `<a href="${place}">${content}</a>`;
    });
}

const hashSource = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** A Content-Security-Policy that allows only the document's own style and script. */
const POLICY = [
  "default-src 'none'",
  `script-src ${hashSource(PAGE_SCRIPT)}`,
  `style-src ${hashSource(PAGE_STYLE)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
