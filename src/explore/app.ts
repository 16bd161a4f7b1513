import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { isExplored } from '../analyze/analysis.js';
import { type Content, type Html, html } from '../formats/html.js';
import { PricelakeError } from '../io/errors.js';
import { isOwnRequest } from '../io/own-request.js';
import { isLostFile } from '../lake/file-fault.js';
import { answerDownload, type WriteRows } from './download.js';
import { printEdition } from './edition.js';
import type { Guard } from './guard.js';
import type { ListEdits } from './list-edits.js';
import { changeAddress, type MakePage, type Page, type PageFrame, type PageRequest, renderPage } from './page.js';
import { alarmPage, readListed } from './pages/alarm.js';
import { analysesPage } from './pages/analyses.js';
import { analysisPage } from './pages/analysis.js';
import { categoriesPage } from './pages/categories.js';
import { copyPage } from './pages/copy.js';
import { creditsPage } from './pages/credits.js';
import { listPage } from './pages/list.js';
import { MATRIX_PATH, matrixPage } from './pages/matrix.js';
import { productPage } from './pages/product.js';
import { productsPage } from './pages/products.js';
import { shopPage, shopsPage } from './pages/shops.js';
import { sqlPage } from './pages/sql.js';
import { todayPage } from './pages/today.js';
import { renderViews, viewsPage } from './pages/views.js';
import { whenPrepared } from './past.js';
import { ask, type Question } from './question.js';
import type { RateLimit } from './rate-limit.js';
import { isRefusedByDuckDb } from './refusal.js';
import { PAGE_SCRIPT } from './script.js';
import type { Snapshot } from './snapshot.js';
import type { Snapshots } from './snapshots.js';
import { PAGE_STYLE } from './style.js';
import { DOWNLOADS } from './table.js';
import { addWrites, type Writable } from './writes.js';

export interface ExploreApp {
  snapshots: Snapshots;
  guard: Guard;
  writeRows: WriteRows;
  advice: PageRequest['advice'];
  /** The data that readers can change; undefined for a shared server, where they can't change data or run SQL. */
  writable: Writable | undefined;
  /** Limits the requests of each network address; undefined for no limit. */
  limit: RateLimit | undefined;
  pictures: PageRequest['pictures'];
  tellNow: PageRequest['tellNow'];
  now(): Date;
  /** Logs an error that the reader didn't cause. */
  report(error: unknown): void;
}

type MakeThis = (request: PageRequest) => Page | undefined | Promise<Page | undefined>;

const makeShop: MakePage = (request, site) => (/^\d{1,18}$/u.test(site) ? shopPage(site, request) : undefined);
/**
 * Makes a page wait for the prepared rows if the reader has a price list. Without a list, the page needs no such rows.
 */
function whenListed(title: string, make: MakePage): MakePage {
  const compared = whenPrepared(title, 'all', make);
  return (request, name) => (request.snapshot.list === undefined ? make(request, name) : compared(request, name));
}

const PAGES: readonly [path: string, make: MakePage][] = [
  ['/', todayPage],
  ['/products', whenPrepared('Products', 'products', productsPage)],
  ['/products/:name', whenPrepared('Product', 'all', (request, product) => productPage(product, request))],
  ['/shops', shopsPage],
  ['/shops/:name', whenPrepared('Shop', 'products', makeShop)],
  ['/categories', whenPrepared('Categories', 'products', categoriesPage)],
  ['/list', whenListed('My list', listPage)],
  [MATRIX_PATH, whenListed('Matrix', matrixPage)],
  ['/analyses', analysesPage],
  ['/copy', copyPage],
  ['/credits', creditsPage],
];

/**
 * Builds a Content-Security-Policy that allows the style and script of this server, and pictures from the given hosts.
 */
const describePolicy = (pictures: ReadonlySet<string>) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    ['img-src data:', ...[...pictures].map((host) => `https://${host}`)].join(' '),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const COOKIE = 'pricelake-token';
const COOKIE_SECONDS = 30 * 86_400;

/** Builds the web application that serves the pages. It refuses requests without a valid token. */
export function buildApp({
  snapshots,
  guard,
  writeRows,
  advice,
  writable,
  limit,
  pictures,
  tellNow,
  now,
  report,
}: ExploreApp): Hono {
  const app = new Hono();
  const policy = describePolicy(pictures);
  const edition = writable === undefined ? 'shared' : 'own';

  app.use(async (c, next) => {
    if (limit?.take(findAddress(c)) === false) {
      return c.text('Too many requests; wait a few seconds.\n', 429, { 'Retry-After': '5' });
    }
    if (!guard.isOwnHost(c.req.header('host'))) return c.text('Unknown address.', 421);
    await next();
    c.header('Content-Security-Policy', policy);
    c.header('X-Content-Type-Options', 'nosniff');
    // With `no-referrer`, browsers would send `Origin: null` when a page of this server submits a form.
    c.header('Referrer-Policy', 'same-origin');
    c.header('Cross-Origin-Opener-Policy', 'same-origin');
    c.header('Cross-Origin-Resource-Policy', 'same-origin');
    c.header('Cache-Control', 'no-store');
    return undefined;
  });
  app.use(async (c, next) => {
    const { token, ...rest } = c.req.query();
    if (token !== undefined && guard.knows(token)) {
      setCookie(c, COOKIE, token, { httpOnly: true, sameSite: 'Strict', path: '/', maxAge: COOKIE_SECONDS });
      // Removes the token from the address, so that the token doesn't stay in the browser's history.
      const search = new URLSearchParams(rest);
      // Collapses leading slashes, because a browser would read the text after `//` as another host.
      const path = c.req.path.replace(/^[/\\]+/u, '/');
      return c.redirect(search.size === 0 ? path : `${path}?${search}`);
    }
    if (!guard.knows(getCookie(c, COOKIE))) {
      return c.text(
        'Open the address that `pricelake explore` printed: it contains a token that this browser does not have.\n',
        403,
      );
    }
    if (!isOwnRequest(c.req.method, (name) => c.req.header(name))) {
      return c.text('Only pages of this server can make this request.\n', 403);
    }
    const isRead = c.req.method === 'GET' || c.req.method === 'HEAD';
    const isForm = writable !== undefined && c.req.method === 'POST' && FORMS.includes(c.req.path);
    return isRead || isForm ? next() : c.text('Pages are read-only.', 405);
  });

  app.get('/page.css', (c) => c.body(PAGE_STYLE, 200, { 'Content-Type': 'text/css; charset=utf-8' }));
  app.get('/page.js', (c) => c.body(PAGE_SCRIPT, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }));
  app.get('/analyses/:file', async (c) => {
    const [, analysis = '', format] = /^(\w+)(?:\.(\w+))?$/u.exec(c.req.param('file')) ?? [];
    if (!isExplored(analysis)) return respond(c, () => undefined);
    if (format === undefined) return respond(c, (request) => analysisPage(analysis, request));
    const known = DOWNLOADS.find((one) => one === format);
    if (known === undefined) return respond(c, () => undefined);
    const { searchParams: search } = new URL(c.req.url);
    const wanted = { analysis, format: known, search, signal: c.req.raw.signal };
    return answer(c, (snapshot) => answerDownload(snapshot, wanted, writeRows));
  });
  if (writable !== undefined) {
    const { views, edits } = writable;
    const show = (c: Context, page: Page) => respond(c, () => page);
    addWrites(app, writable, { answer, show });
    app.get('/sql', (c) => respond(c, sqlPage));
    if (edits !== undefined) app.get('/alarm', (c) => respond(c, (request) => previewAlarm(edits, request)));
    if (views !== undefined) app.get('/views', (c) => respond(c, async () => viewsPage(await views.list())));
  }
  for (const [path, make] of PAGES)
    app.get(path, (c) => respond(c, (request) => make(request, c.req.param('name') ?? '')));
  app.notFound((c) => respond(c, () => undefined));
  return app;

  async function frame(c: Context, snapshot: Snapshot): Promise<PageFrame> {
    const { pathname, searchParams } = new URL(c.req.url);
    const menu = await renderMenu(changeAddress(pathname, searchParams, { part: '' }));
    return { snapshot, path: pathname, query: searchParams.get('q') ?? '', menu };
  }

  /** Renders the saved views in the menu. If they can't be read, links to the Views page, which shows the error. */
  async function renderMenu(address: string): Promise<Content> {
    if (writable?.views === undefined) return '';
    const views = await writable.views.list().catch(() => undefined);
    return views === undefined ? html`<a href="/views">Views</a>` : renderViews(views, address);
  }

  async function write(c: Context, snapshot: Snapshot, make: MakeThis): Promise<Response> {
    const { signal } = c.req.raw;
    const search = new URL(c.req.url).searchParams;
    const askNow = (question: Question) => ask(snapshot, question, signal);
    const canSetAlarms = writable?.edits?.shows(snapshot) === true;
    const page = await make({
      snapshot,
      search,
      signal,
      ask: askNow,
      advice,
      pictures,
      tellNow,
      now: now(),
      canSetAlarms,
    });
    const shown = page ?? {
      title: 'There is no such page',
      body: html`<p>Nothing in the lake has this address.</p>`,
    };
    return c.html(
      printEdition(renderPage(shown, await frame(c, snapshot)), edition),
      page === undefined ? 404 : (page.status ?? 200),
    );
  }

  function respond(c: Context, make: MakeThis): Promise<Response> {
    return answer(c, (snapshot) => write(c, snapshot, make));
  }

  /** Answers a request, and renders errors as pages. If a run deletes files while they are being read, retries once. */
  async function answer(c: Context, work: (snapshot: Snapshot) => Promise<Response>): Promise<Response> {
    try {
      return await snapshots.use(work).catch(async (error: unknown) => {
        if (!isLostFile(error)) throw error;
        await snapshots.renew();
        return snapshots.use(work);
      });
    } catch (error) {
      if (c.req.raw.signal.aborted) return c.body(null, GONE as 500);
      const isOurs = error instanceof PricelakeError ? error.code === 'unavailable' : !isRefusedByDuckDb(error);
      if (isOurs) report(error);
      // Messages may contain paths of this machine, so a shared server shows only messages about refused queries.
      const isQuery = error instanceof PricelakeError ? error.code === 'query' : !isOurs;
      const isTold = writable !== undefined || isQuery;
      const body = isTold ? describeFault(error) : html`<p>Something is wrong with this server.</p>`;
      const page = { title: 'This page can’t be shown', body };
      return snapshots.use(async (snapshot) =>
        c.html(printEdition(renderPage(page, await frame(c, snapshot)), edition), isOurs ? 500 : 400),
      );
    }
  }
}

/** The status of a response whose client has disconnected, so that nobody receives it. */
const GONE = 499;

/** The only paths that accept POST requests. */
const FORMS = ['/list', '/alarm', '/views', '/views/remove'];

async function previewAlarm(edits: ListEdits, request: PageRequest): Promise<Page | undefined> {
  const { snapshot, search, signal } = request;
  if (!edits.shows(snapshot)) return undefined;
  const listed = readListed((name) => search.get(name) ?? '');
  return alarmPage(await edits.preview(snapshot, listed, signal), listed, request);
}

/** Returns the network address that a request comes from; `unknown` if there is no socket. */
function findAddress(c: Context): string {
  const { incoming } = c.env as { incoming?: { socket: { remoteAddress?: string } } };
  return incoming?.socket.remoteAddress ?? 'unknown';
}

function describeFault(error: unknown): Html {
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof PricelakeError ? (error.facts.hint ?? '') : '';
  return html`<div class="finding grave" role="alert"><pre>${message}</pre><p>${hint}</p></div>`;
}
