import { createHash } from 'node:crypto';
import { countOf, formatCount } from '../formats/count.js';
import { type Content, Html, html } from '../formats/html.js';
import { foreign, moment } from './format.js';
import { renderSection } from './layout.js';
import { PAGE_SCRIPT } from './page-script.js';
import { PAGE_STYLE } from './page-style.js';
import type { ReportFacts } from './read-facts.js';
import { type Advice, checksSection, describeFinding } from './sections/checks.js';
import { copySection } from './sections/copy.js';
import { creditsSection } from './sections/credits.js';
import { historySection } from './sections/history.js';
import { movesSection, successorsSection } from './sections/moves.js';
import { complianceSection, gapsSection } from './sections/own-shop.js';
import { shopsSection } from './sections/shops.js';
import { spreadSection } from './sections/spread.js';
import { watchSection } from './sections/watch.js';

export interface ReportHead {
  /** The pipeline that fills the lake. */
  name: string;
  /** The lake's folder. */
  lake: string;
  generatedAt: Date;
  version: string;
  /** By name of the check. */
  advice: ReadonlyMap<string, Advice>;
}

/** Near the beginning of a file, it shows that the file is a report of ours. */
export const REPORT_MARK = '<meta name="generator" content="pricelake report">';

/** Renders the report as one document that loads nothing and runs only its own script. */
export async function renderReport(facts: ReportFacts, head: ReportHead): Promise<string> {
  const sections = [
    await spreadSection(facts),
    ...(facts.watched === undefined ? [] : [watchSection(facts.watched)]),
    ...(facts.breaches === undefined ? [] : [complianceSection(facts.breaches)]),
    ...(facts.gaps === undefined ? [] : [gapsSection(facts.gaps)]),
    movesSection(facts.moves),
    await shopsSection(facts),
    historySection(facts),
    successorsSection(facts.successors),
    await copySection(facts, head.generatedAt),
    checksSection(facts.checks, head.advice),
    creditsSection(facts.credits),
  ];
  const { name, lake, generatedAt, version } = head;
  const duckdb = facts.runs[0]?.duckdb_version;
  const { currency } = facts.selection;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${PAGE_POLICY}">
${new Html(REPORT_MARK)}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${name}: price report</title>
<link rel="icon" href="data:,">
<style>${new Html(PAGE_STYLE)}</style>
</head>
<body>
<header class="wrap">
<p class="eyebrow">Price report</p>
<h1>${foreign(name)}</h1>
<p class="about">Lake ${foreign(lake)}${currency === undefined ? '' : html`, prices in ${currency}`} · made ${moment(generatedAt)} · pricelake ${version}</p>
${renderVerdict(facts, head.advice)}
<nav aria-label="Parts of this report"><ul>${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>\n`)}</ul></nav>
</header>
<main class="wrap">
${sections.map(renderSection)}</main>
<footer class="wrap"><p>Made by pricelake ${version}${duckdb === undefined ? '' : html` with DuckDB ${duckdb}`} from the published tables of the lake. Times are UTC.
Money is exact to four decimals; percentages, indexes and charts are rounded. This page asks for nothing from the network.</p></footer>
<script>${new Html(PAGE_SCRIPT)}</script>
</body>
</html>
`.text;
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Allows only the page's own style and script. */
const PAGE_POLICY = [
  "default-src 'none'",
  `script-src ${hashSource(PAGE_SCRIPT)}`,
  `style-src ${hashSource(PAGE_STYLE)}`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

type Verdict = { state: 'good' | 'note' | 'attention' | 'wrong'; text: Content };

/** Answers in three lines: how much do prices differ, is the copy whole, did the checks find anything? */
function renderVerdict(facts: ReportFacts, advice: ReportHead['advice']): Html {
  const verdicts = [judgeSpread(facts), judgeCopy(facts), judgeChecks(facts, advice)];
  return html`<ul class="verdict">${verdicts.map(({ state, text }) => html`<li class="${state}"><span>${text}</span></li>\n`)}</ul>`;
}

function judgeCopy({ runs, overview }: ReportFacts): Verdict {
  const [last] = runs;
  if (last === undefined) return { state: 'attention', text: 'Nothing is published in this lake yet.' };
  const wrong = runs.filter(({ adds_up }) => !adds_up);
  if (wrong.length > 0) {
    return { state: 'wrong', text: `Rows of ${countOf(wrong.length, 'run')} do not add up: see the ledger.` };
  }
  const held = `${countOf(overview.listed, 'listing')} of ${countOf(overview.shops, 'shop')}`;
  if (last.listing_unknown > 0n) {
    const unknown = countOf(last.listing_unknown, 'item');
    return { state: 'attention', text: `The copy holds ${held}. Up to ${unknown} may no longer be listed.` };
  }
  if (last.stale_items > 0n) {
    const stale = `${countOf(last.stale_items, 'item')} may be out of date`;
    const text = `The copy holds ${held}. ${stale}: no row of the service shows all their changes yet.`;
    return { state: 'attention', text };
  }
  if (!last.caught_up) return { state: 'attention', text: `The copy holds ${held}, and more changes were waiting.` };
  return { state: 'good', text: html`The <a href="#copy">copy</a> is complete as of its last run: ${held}.` };
}

function judgeChecks({ checks }: ReportFacts, advice: ReportHead['advice']): Verdict {
  if (checks.length === 0) return { state: 'attention', text: 'No checks have run yet.' };
  const failed = checks.filter(({ violations }) => violations > 0n);
  if (failed.length === 0) return { state: 'good', text: `All ${formatCount(checks.length)} checks passed.` };
  const grave = failed.some(({ severity }) => severity !== 'warn');
  const findings = failed
    .slice(0, 2)
    .map((check) => describeFinding(check, advice.get(check.name)).replace(/\.$/u, ''));
  const more = failed.length > findings.length ? `; and ${failed.length - findings.length} more` : '';
  const text = html`${formatCount(failed.length)} of ${formatCount(checks.length)} <a href="#checks">checks</a> found something: ${findings.join('; ')}${more}.`;
  return { state: grave ? 'wrong' : 'attention', text };
}

function judgeSpread({ summary, selection }: ReportFacts): Verdict {
  const scope = selection.currency === undefined ? '' : ` in ${selection.currency}`;
  if (summary.median_pct === null) {
    return { state: 'note', text: `No product is sold by two shops${scope}, so there are no prices to compare.` };
  }
  const text = `Half of the products sold by two shops or more${scope} cost at least ${summary.median_pct.toFixed(1)} % more at the most expensive shop than at the cheapest.`;
  return { state: 'note', text };
}
