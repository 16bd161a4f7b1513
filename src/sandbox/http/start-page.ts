import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Hono } from 'hono';
import { formatCount } from '../../formats/count.js';
import { Html, html } from '../../formats/html.js';
import { packagePath } from '../../io/package-path.js';
import type { SimulatedClock } from '../clock.js';
import { describeCall, describeSync, PIPELINE_FILE } from '../first-steps.js';
import { KEY_KINDS, type KeyKind } from './account.js';
import { buildCaller, type SandboxEnv, type Service } from './caller.js';

/** The style sheet of the start page. It supports dark mode and small screens, and wraps long lines of code. */
const START_PAGE_STYLE = `
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

const STYLE_HASH = createHash('sha256').update(START_PAGE_STYLE).digest('base64');

/** A Content-Security-Policy that allows only the page's own style. */
const START_PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Renders the start page as a single HTML file. */
export async function renderStartPage(service: Service, baseUrl: string, paths: OpenApiPaths): Promise<string> {
  const { world, clock, account } = service;
  const counts = await world.database.use((session) => session.row(COUNT_WORLD));
  const figures = {
    ...counts,
    changes: world.feed.length,
    datasets: buildCaller(service, 'live').view.datasets.length,
  };
  const readings = service.readings.list();
  const chosen = readings.filter(({ isDefault }) => !isDefault);
  const key = account.keys.live;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>pricelake sandbox</title>
<link rel="icon" href="data:,">
<style>${new Html(START_PAGE_STYLE)}</style>
</head>
<body>
<main>
<header>
<h1>pricelake sandbox</h1>
<p>The whole Price and Product Data API on this machine. It needs no account and no network. Its data is deleted when it stops.</p>
</header>
<dl class="figures">${Object.entries(figures).map(([name, value]) => html`<div><dt>${name}</dt><dd>${formatCount(Number(value))}</dd></div>`)}</dl>
<section>
<h2>Address and keys</h2>
<dl class="access">
<div><dt>Base URL</dt><dd><code>${baseUrl}</code></dd></div>
${KEY_KINDS.map((kind) => html`<div><dt>${kind} key</dt><dd><code>${account.keys[kind]}</code><small>${KEY_TEXTS[kind]}</small></dd></div>`)}
<div><dt>Plan</dt><dd>${account.plan.name}</dd></div>
<div><dt>Clock</dt><dd>${describeClock(clock)}</dd></div>
</dl>
</section>
<section>
<h2>Request an item</h2>
<pre>${describeCall(baseUrl, key)}</pre>
</section>
<section>
<h2>Copy it into a lake</h2>
<p>Save this pipeline file as <code>prices.yaml</code>:</p>
<pre>${PIPELINE_FILE}</pre>
<p>Then sync, let an hour pass, and sync again:</p>
<pre>${`${describeSync(baseUrl, key)}pricelake sync prices.yaml\n`}</pre>
</section>
<section>
<h2>Readings</h2>
<p>Where the API document doesn't say, this service does the following${chosen.length > 0 ? '; chosen readings come first' : ''}. Choose others with <code>--reading</code>.</p>
<dl class="readings">${[...chosen, ...readings.filter(({ isDefault }) => isDefault)].map(
    ({ name, value, says, isDefault }) =>
      html`<div><dt><code>${name}=${value}</code>${isDefault ? '' : ' (chosen)'}</dt><dd>${says}</dd></div>\n`,
  )}</dl>
</section>
<section>
<h2>Endpoints</h2>
<p>The interface description is <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1). Each call needs a key.</p>
<ul class="endpoints">${Object.entries(paths).map(([path, { get }]) => html`<li><code>${path}</code> <span>${get.summary}</span></li>\n`)}</ul>
</section>
<footer><p>State of the world: <a href="/sandbox">/sandbox</a>. Sent events: <a href="/sandbox/webhook">/sandbox/webhook</a>. Active faults: <a href="/sandbox/faults">/sandbox/faults</a>. Readings: <a href="/sandbox/readings">/sandbox/readings</a>. For everything else that you can do while it runs, see <code>pricelake sandbox --help</code>.</p></footer>
</main>
</body>
</html>
`.text;
}

type OpenApiPaths = Record<string, { get: { summary: string } }>;

const KEY_TEXTS: Record<KeyKind, string> = {
  live: 'reads everything that the plan includes',
  test: 'reads only the sample dataset',
  operator: 'is not metered',
};

function describeClock(clock: SimulatedClock): string {
  const { mode } = clock;
  const pace =
    mode === 'frozen'
      ? 'moves only with pricelake sandbox advance'
      : mode === 'real'
        ? 'runs on'
        : `runs, ${mode} as fast`;
  return `${clock.iso().slice(0, 16).replace('T', ' ')} UTC, ${pace}`;
}

/** Adds the start page at `/`, and `/openapi.json` (API §9). Neither needs a key. */
export function addStartRoutes(app: Hono<SandboxEnv>, service: Service): void {
  const document = readFileSync(packagePath('schemas/openapi.json'), 'utf8');
  const { paths } = JSON.parse(document) as { paths: OpenApiPaths };

  app.get('/openapi.json', (c) => c.body(document, 200, { 'Content-Type': 'application/json' }));

  app.get('/', async (c) => {
    return c.html(await renderStartPage(service, new URL(c.req.url).origin, paths), 200, {
      'Content-Security-Policy': START_PAGE_POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    });
  });
}

/** Selects the counts on the start page, where the column names are the labels. */
const COUNT_WORLD = `SELECT count(*) FILTER (removed_at IS NULL) AS "items listed", count(*) AS "items ever seen", NULL AS changes,
  count(DISTINCT product_key) FILTER (removed_at IS NULL) AS products, count(DISTINCT site_id) AS websites,
  count(DISTINCT currency) AS currencies FROM items`;
