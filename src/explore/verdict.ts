import { type Advice, describeFinding } from '../check/finding.js';
import { countOf, formatCount } from '../formats/count.js';
import { type Content, type Html, html } from '../formats/html.js';
import type { Answer } from './question.js';
import { type ReadValue, readAll, readFirst, toBigInt, toCheck, toNumber } from './values.js';

/** The results of the queries on which the verdict on prices and on the local copy is based. */
export interface Standing {
  /** The row of spread_summary.sql. */
  summary: ReadValue;
  /** The row of report_overview.sql. */
  overview: ReadValue;
  /** The rows of report_runs.sql, newest first. */
  runs: Answer;
  /** The rows of report_checks.sql. */
  checks: Answer;
  /** The row of watched_summary.sql; undefined without a price list. */
  list: ReadValue | undefined;
}

type Verdict = { state: 'good' | 'note' | 'attention' | 'wrong'; text: Content };

/** Summarizes in a few lines how much prices differ, whether the copy is complete, and what the checks found. */
export function renderVerdict(standing: Standing, advice: ReadonlyMap<string, Advice>): Html {
  const verdicts = [judgeSpread(standing), ...judgeList(standing), judgeCopy(standing), judgeChecks(standing, advice)];
  return html`<ul class="verdict">${verdicts.map(({ state, text }) => html`<li class="${state}"><span>${text}</span></li>\n`)}</ul>`;
}

function judgeSpread({ summary }: Standing): Verdict {
  const median = toNumber(summary('median_pct'));
  if (median === undefined) {
    return { state: 'note', text: 'No product is sold by two shops, so there are no prices to compare.' };
  }
  const text = `Half of the products sold by two shops or more cost at least ${median.toFixed(1)} % more at the most expensive shop than at the cheapest.`;
  return { state: 'note', text };
}

function judgeList({ list }: Standing): Verdict[] {
  if (list === undefined) return [];
  const [lines, undercut, below, unsure] = ['lines', 'undercut', 'below', 'unsure'].map((name) => toBigInt(list(name)));
  const text = html`Of the ${countOf(lines ?? 0n, 'line')} of <a href="/list">your list</a>, shops are cheaper than you for ${formatCount(undercut ?? 0n)}, and below your lowest allowed price for ${formatCount(below ?? 0n)}${(unsure ?? 0n) > 0n ? `, and perhaps for ${formatCount(unsure ?? 0n)} more` : ''}.`;
  return [{ state: below === 0n ? 'note' : 'attention', text }];
}

function judgeCopy({ runs, overview }: Standing): Verdict {
  if (runs.rows.length === 0) return { state: 'attention', text: 'Nothing is published in this lake yet.' };
  const last = readFirst(runs);
  const wrong = readAll(runs).filter((read) => read('adds_up') === false);
  if (wrong.length > 0) {
    return { state: 'wrong', text: `Rows of ${countOf(wrong.length, 'run')} do not add up: see the ledger.` };
  }
  const held = `${countOf(toBigInt(overview('listed')), 'listing')} of ${countOf(toBigInt(overview('shops')), 'shop')}`;
  const unknown = toBigInt(last('listing_unknown'));
  if (unknown > 0n) {
    const text = `The copy holds ${held}. Up to ${countOf(unknown, 'item')} may no longer be listed.`;
    return { state: 'attention', text };
  }
  const stale = toBigInt(last('stale_items'));
  if (stale > 0n) {
    const text = `The copy holds ${held}. ${countOf(stale, 'item')} may be out of date: no row of the service shows all their changes yet.`;
    return { state: 'attention', text };
  }
  if (last('caught_up') !== true) {
    return { state: 'attention', text: `The copy holds ${held}, and more changes were waiting.` };
  }
  return { state: 'good', text: html`The <a href="/copy">copy</a> is complete as of its last run: ${held}.` };
}

function judgeChecks({ checks }: Standing, advice: ReadonlyMap<string, Advice>): Verdict {
  const all = readAll(checks);
  if (all.length === 0) return { state: 'attention', text: 'No checks have run yet.' };
  const failed = all.filter((read) => toBigInt(read('violations')) > 0n);
  if (failed.length === 0) return { state: 'good', text: `All ${formatCount(all.length)} checks passed.` };
  // Only gate checks find faults in the copy. Checks of other severities find mistakes by shops.
  const isGateFailed = failed.some((read) => read('severity') === 'gate');
  const findings = failed
    .slice(0, 2)
    .map((read) => describeFinding(toCheck(read), advice.get(String(read('name')))).replace(/\.$/u, ''));
  const omitted = failed.length > findings.length ? `; and ${failed.length - findings.length} more` : '';
  const text = html`${formatCount(failed.length)} of ${formatCount(all.length)} <a href="/copy#checks">checks</a> found something: ${findings.join('; ')}${omitted}.`;
  return { state: isGateFailed ? 'wrong' : 'attention', text };
}
