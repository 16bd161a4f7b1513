import { createHash } from 'node:crypto';
import { Html, html } from '../../formats/html.js';
import { describeCall, describeSync, PIPELINE_FILE } from '../first-steps.js';
import { START_PAGE_STYLE } from './start-page-style.js';

/** What the start page shows. */
export interface StartFacts {
  baseUrl: string;
  keys: { name: string; key: string; about: string }[];
  plan: string;
  clock: string;
  figures: { name: string; value: string }[];
  /** How the document is read where it is silent; those chosen are not the sandbox's own. */
  readings: { name: string; value: string; says: string; isDefault: boolean }[];
  endpoints: { path: string; summary: string }[];
}

const STYLE_HASH = createHash('sha256').update(START_PAGE_STYLE).digest('base64');

/** Nothing but the page's own style: no script, no request to anywhere, no frame around it. */
export const START_PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Those that were chosen come first. */
const byChoice = (a: { isDefault: boolean }, b: { isDefault: boolean }) => Number(a.isDefault) - Number(b.isDefault);

/** One self-contained page: what the sandbox is, and what to do next. */
export function renderStartPage({ baseUrl, keys, plan, clock, figures, readings, endpoints }: StartFacts): string {
  const key = keys[0]?.key ?? '';
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
<p>The whole Price and Product Data API on this machine. It needs no account and no network; what it holds is gone when it ends.</p>
</header>
<dl class="figures">${figures.map(({ name, value }) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
<section>
<h2>Address and keys</h2>
<dl class="access">
<div><dt>Base URL</dt><dd><code>${baseUrl}</code></dd></div>
${keys.map((one) => html`<div><dt>${one.name}</dt><dd><code>${one.key}</code><small>${one.about}</small></dd></div>`)}
<div><dt>Plan</dt><dd>${plan}</dd></div>
<div><dt>Clock</dt><dd>${clock}</dd></div>
</dl>
</section>
<section>
<h2>Ask for an item</h2>
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
<p>Where the API document is silent, this service does the following${readings.some((one) => !one.isDefault) ? '; chosen readings come first' : ''}. Others can be chosen by <code>--reading</code>.</p>
<dl class="readings">${[...readings]
    .sort(byChoice)
    .map(
      ({ name, value, says, isDefault }) =>
        html`<div><dt><code>${name}=${value}</code>${isDefault ? '' : ' (chosen)'}</dt><dd>${says}</dd></div>\n`,
    )}</dl>
</section>
<section>
<h2>Endpoints</h2>
<p>The interface description is <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1). Each call needs a key.</p>
<ul class="endpoints">${endpoints.map(({ path, summary }) => html`<li><code>${path}</code> <span>${summary}</span></li>\n`)}</ul>
</section>
<footer><p>State of the world: <a href="/sandbox">/sandbox</a>. Events sent: <a href="/sandbox/webhook">/sandbox/webhook</a>. Faults armed: <a href="/sandbox/faults">/sandbox/faults</a>. Readings: <a href="/sandbox/readings">/sandbox/readings</a>. What else can be done while it runs: <code>pricelake sandbox --help</code>.</p></footer>
</main>
</body>
</html>
`.text;
}
