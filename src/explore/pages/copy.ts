import { isLosslessNumber, parse } from 'lossless-json';
import { type Advice, describeFinding } from '../../check/finding.js';
import { countOf, formatCount } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { chartAnswer } from '../charts/chart-answer.js';
import { foreign, formatDay, formatDuration, formatPercent, moment, shortenMonth } from '../format.js';
import { type Figure, type Page, type PageRequest, renderFigures, renderSection } from '../page.js';
import type { Answer, Question } from '../question.js';
import { renderAnswer, type ShownColumn } from '../table.js';
import { type ReadValue, readAll, readFirst, toBigInt, toCheck, toDate, toNumber, toText } from '../values.js';
import { renderNow, renderRemote, renderSteps } from './copy-now.js';
import { FRESHNESS } from './shops.js';

const MOST = 1000;
const CHANGE_DAYS = 60;

const SEVERITIES: Readonly<Record<string, string>> = {
  gate: 'gate: holds a batch back',
  error: 'error: published, but wrong',
  warn: 'warning: worth a look',
};

const NO_RUN = 'No run is published yet.';
const MONTH = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', month: 'short', year: 'numeric' });

const COST: readonly (string | ShownColumn)[] = [
  {
    name: 'month',
    show: (value) => {
      const month = toDate(value);
      return month === undefined ? '–' : shortenMonth(MONTH.format(month));
    },
  },
  'runs',
  'calls',
  { name: 'export_rows', label: 'Export rows' },
  { name: 'overage_blocks', label: 'Overage blocks' },
  {
    name: 'bytes_received',
    label: 'Received',
    show: (value) => `${((toNumber(value) ?? 0) / 1e6).toLocaleString('en-US', { maximumFractionDigits: 1 })} MB`,
  },
  'seconds',
];

/** Shows the runs, checks, datasets and changes of the copy. */
export async function copyPage({ ask, advice, now, tellNow }: PageRequest): Promise<Page> {
  const overview: Question = { analysis: 'report_overview', set: {}, limit: 1 };
  const runs: Question = { analysis: 'report_runs', set: { top: '50' }, limit: 50 };
  const costs: Question = { analysis: 'run_costs', set: {}, limit: 12 };
  const checks: Question = { analysis: 'report_checks', set: {}, limit: MOST };
  const datasets: Question = { analysis: 'report_datasets', set: { top: String(MOST) }, limit: MOST };
  const sources: Question = { analysis: 'source_freshness', set: { top: '20' }, limit: 20 };
  const changes: Question = { analysis: 'changes_by_day', set: { days: String(CHANGE_DAYS) }, limit: MOST };
  const [held, ran, paid, checked, described, seen, changed] = (await Promise.all(
    [overview, runs, costs, checks, datasets, sources, changes].map(ask),
  )) as [Answer, Answer, Answer, Answer, Answer, Answer, Answer];
  const state = await tellNow();
  return {
    title: 'Copy',
    ...(state.remote.kind === 'asked' ? { again: 2 } : {}),
    body: html`${renderNow(state)}
${renderState(readFirst(held), ran, now)}
${await chartAnswer(changes.analysis, changed)}
${renderSection(
  'Runs',
  html`${explainProof(ran)}${renderAnswer(ran, runs, {
    caption: 'The ledger of the newest runs: cost, and what became of the rows received',
    empty: NO_RUN,
    columns: [
      { name: 'run_number', label: 'Run' },
      {
        name: 'mode',
        show: (value, read) =>
          html`${foreign(String(value))} <small>${foreign(String(read('reason') ?? ''), 300)}</small>`,
      },
      { name: 'finished_at', label: 'Ended' },
      'seconds',
      'calls',
      { name: 'export_rows', label: 'Export rows' },
      'received',
      'written',
      'rejected',
      { name: 'deduplicated', label: 'Duplicates' },
      { name: 'adds_up', label: 'Adds up' },
      { name: 'caught_up', label: 'Caught up' },
      { name: 'stale_items', label: 'Stale' },
      { name: 'listing_unknown', label: 'Unknown' },
      'sampled',
      { name: 'sample_mismatches', label: 'Differ' },
    ],
  })}`,
)}
${renderSteps(state.tries)}
${renderSection('Cost by month', renderAnswer(paid, costs, { caption: 'Calls, export rows and overage of all runs, by the month in which they ended (UTC)', empty: NO_RUN, columns: COST }))}
<div id="checks">${renderSection('Checks', renderChecks(checked, checks, advice))}</div>
${renderSection('Schema drift', renderDrift(readFirst(ran)('schema_drift')))}
${renderRemote(state.remote, now)}
${renderSection('Freshness', renderAnswer(seen, sources, { caption: 'The 20 stalest sources', columns: ['shop', ...FRESHNESS], empty: 'No read has shown sources yet.' }))}
${renderSection('Datasets', renderAnswer(described, datasets, { caption: 'As the service describes them, beside the copy', empty: ran.rows.length === 0 ? NO_RUN : 'The service names no datasets.' }))}
${renderSection('Changes by day', html`<details><summary>In figures</summary>${renderAnswer(changed, changes, { caption: `Changes of ${CHANGE_DAYS} days, by kind`, empty: 'The copy knows of no changes yet.' })}</details>`)}`,
  };
}

/** Renders how fresh the copy is and how much data it has. */
function renderState(read: ReadValue, runs: Answer, now: Date): Html {
  const last = readFirst(runs);
  const [newest, oldest, ended] = [
    toDate(read('newest_change')),
    toDate(read('oldest_change')),
    toDate(last('finished_at')),
  ];
  const current = readAll(runs)
    .map((run) => toDate(run('caught_up_at')))
    .find((at) => at !== undefined);
  const age = current === undefined ? -1 : now.getTime() - current.getTime();
  const unlisted = toBigInt(read('items')) - toBigInt(read('listed'));
  const figures = renderFigures([
    { name: 'Newest change', ...renderMoment(newest, describeLag(newest, ended)) },
    { name: 'Last run', ...renderMoment(ended, describeRun(last)) },
    ...(current === undefined
      ? []
      : [{ name: 'Last complete read', ...renderMoment(current, age < 0 ? '' : `${formatDuration(age)} ago`) }]),
    {
      name: 'Listings',
      value: formatCount(toBigInt(read('listed'))),
      note: `and ${formatCount(unlisted)} no longer listed`,
    },
    {
      name: 'Changes',
      value: formatCount(toBigInt(read('changes'))),
      note: oldest === undefined ? '' : `since ${formatDay(oldest)}`,
    },
  ]);
  const unknown = toBigInt(last('listing_unknown'));
  if (unknown === 0n) return figures;
  return html`${figures}<p><strong>Run ${toText(last('run_number'))} couldn't tell whether up to ${countOf(unknown, 'item')} are still listed</strong>: ${foreign(toText(last('reason')) ?? null, 600)}.</p>`;
}

/** Formats a time as a figure with a note; `none yet` if there is no time. */
function renderMoment(at: Date | undefined, note: string): Pick<Figure, 'value' | 'note'> {
  if (at === undefined) return { value: 'none yet', note: '' };
  return { value: moment(at), note };
}

function describeLag(newest: Date | undefined, ended: Date | undefined): string {
  if (newest === undefined || ended === undefined) return '';
  const lag = ended.getTime() - newest.getTime();
  return lag < 0 ? "by the service's clock" : `${formatDuration(lag)} before the last run ended`;
}

function describeRun(read: ReadValue): string {
  if (read('run_number') === null) return '';
  if (toBigInt(read('listing_unknown')) > 0n) return 'not caught up';
  const stale = toBigInt(read('stale_items'));
  if (stale > 0n) return `${countOf(stale, 'item')} may be out of date`;
  return read('caught_up') === true ? 'nothing more was waiting' : 'more changes were waiting';
}

/**
 * The minimum size of a sample that supports a statement about all items. If none of 100 sampled items differs, then at
 * 95 % confidence, less than 3 % of all items differ.
 */
const ENOUGH = 100;

function explainProof(runs: Answer): Content {
  const last = readFirst(runs);
  const [sampled, different] = [toBigInt(last('all_sampled')), toBigInt(last('all_mismatches'))];
  if (runs.rows.length === 0) return '';
  if (sampled === 0n) return html`<p>No run compared a sample with the service (proof.sample).</p>`;
  const found =
    different === 0n
      ? 'found no difference.'
      : `found that ${countOf(different, 'item')} differed, which ${different === 1n ? 'was' : 'were'} repaired or reported.`;
  // If none of n sampled items differs, the upper bound at 95 % confidence is 1 - 0.05^(1/n).
  const bound =
    different === 0n && sampled >= ENOUGH
      ? ` With 95 % confidence, at most ${formatPercent(100 * (1 - 0.05 ** (1 / Number(sampled))))} of what these runs published differed.`
      : '';
  const compared = toBigInt(last('products_compared'));
  const products =
    compared === 0n
      ? ''
      : ` Run ${toText(last('run_number'))} also compared ${countOf(compared, 'product')}, of which ${formatCount(toBigInt(last('products_different')))} differed.`;
  return html`<p>Proof of the copy: each run reads a few random items again, one by one. All runs together compared ${countOf(sampled, 'item')} and ${found}${bound}${products}</p>`;
}

/** Renders each check that found violations, with sample rows and advice, followed by a list of all checks. */
function renderChecks(answer: Answer, question: Question, advice: PageRequest['advice']): Content {
  const all = readAll(answer);
  const failed = all.filter((read) => toBigInt(read('violations')) > 0n);
  const at = toDate(readFirst(answer)('checked_at'));
  if (at === undefined) return html`<p>No run has been checked yet.</p>`;
  return html`<p>${countOf(all.length, 'check')} looked at the copy before the run of ${moment(at)} was published: ${formatCount(all.length - failed.length)} passed, ${formatCount(failed.length)} found something.</p>
${failed.map((read) => renderFinding(read, advice.get(String(read('name')))))}
<details><summary>All checks</summary>${renderAnswer(answer, question, {
    caption: 'Results of the newest run, what was found first',
    columns: ['name', 'severity', 'violations', { name: 'let_through', label: 'Let through' }, 'description'],
  })}</details>`;
}

function renderFinding(read: ReadValue, advice: Advice | undefined): Html {
  const severity = String(read('severity'));
  const passed = read('let_through') === true ? ' Someone published the batch anyway.' : '';
  return html`<article class="finding ${severity === 'warn' ? 'slight' : 'grave'}">
<h3>${foreign(String(read('name')))} <span class="tag">${SEVERITIES[severity] ?? severity}</span></h3>
<p><strong>${describeFinding(toCheck(read), advice)}</strong>${passed}</p>
${advice === undefined ? '' : html`<p class="next">${advice.next}</p>`}
${advice?.found === undefined ? '' : html`<p class="soft">The rule: ${toText(read('description'))}</p>`}
${renderSample(String(read('name')), String(read('sample') ?? ''))}
</article>
`;
}

/** Renders the first violations, whose column names and values may come from the service. */
function renderSample(name: string, sample: string): Content {
  const rows = parseSample(sample);
  if (rows.length === 0) return '';
  const labels = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const renderRow = (row: Record<string, unknown>) =>
    html`<tr>${labels.map((label) => html`<td data-label="${label}">${renderValue(row[label])}</td>`)}</tr>\n`;
  return html`<details><summary>First ${countOf(rows.length, 'row')}</summary><div class="frame"><table data-whole="">
<caption><span>First rows that ${name} found</span></caption>
<thead><tr>${labels.map((label) => html`<th scope="col" data-name="${label}">${foreign(label, 60)}</th>`)}</tr></thead>
<tbody>
${rows.map(renderRow)}</tbody>
</table></div></details>`;
}

/** Parses the sample of a check; empty if it is invalid. Numbers stay text, because ids may exceed 2^53. */
function parseSample(sample: string): Record<string, unknown>[] {
  try {
    const rows: unknown = parse(sample);
    return Array.isArray(rows) ? rows.filter((row) => typeof row === 'object' && row !== null) : [];
  } catch {
    return [];
  }
}

function renderValue(value: unknown): Content {
  if (value === null || value === undefined) return foreign(null);
  if (isLosslessNumber(value)) return value.toString();
  return foreign(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

function renderDrift(drift: unknown): Content {
  if (typeof drift !== 'string') return html`<p class="soft">${NO_RUN}</p>`;
  const text = drift;
  if (text === '' || text === '[]')
    return html`<p class="soft">Responses in the newest run matched the API document.</p>`;
  return html`<pre tabindex="0">${foreign(text, 10_000)}</pre>`;
}
