import { type Content, html } from '../../formats/html.js';
import { foreign } from '../../report/format.js';
import { type Page, type PageRequest, renderSection } from '../page.js';
import { type Question, readRow } from '../question.js';
import { renderAnswer } from '../table.js';
import { FRESHNESS } from './shops.js';

const MOST = 1000;

/** Runs, checks, datasets and changes: how the copy came about, and what is wrong with it. */
export async function copyPage({ ask }: PageRequest): Promise<Page> {
  const runs: Question = { analysis: 'report_runs', set: { top: '50' }, limit: 50 };
  const checks: Question = { analysis: 'report_checks', set: {}, limit: MOST };
  const datasets: Question = { analysis: 'report_datasets', set: { top: String(MOST) }, limit: MOST };
  const sources: Question = { analysis: 'source_freshness', set: { top: '50' }, limit: 50 };
  const changes: Question = { analysis: 'changes_by_day', set: { days: '30' }, limit: MOST };
  const [ran, checked, described, seen, changed] = await Promise.all([
    ask(runs),
    ask(checks),
    ask(datasets),
    ask(sources),
    ask(changes),
  ]);
  return {
    title: 'Copy',
    body: html`${renderSection(
      'Runs',
      renderAnswer(ran, runs, {
        caption: 'The newest runs',
        columns: [
          { name: 'run_number', label: 'Run' },
          'mode',
          { name: 'finished_at', label: 'Ended' },
          'seconds',
          'calls',
          { name: 'export_rows', label: 'Export rows' },
          'overage',
          'received',
          'written',
          'rejected',
          { name: 'deduplicated', label: 'Doubles' },
          { name: 'adds_up', label: 'Adds up' },
          { name: 'caught_up', label: 'Caught up' },
          { name: 'stale_items', label: 'Stale' },
          { name: 'listing_unknown', label: 'Unknown' },
          'sampled',
          { name: 'sample_mismatches', label: 'Differ' },
          'reason',
        ],
      }),
    )}
<div id="checks">${renderSection(
      'Checks',
      renderAnswer(checked, checks, {
        caption: 'Results of the newest run, what was found first',
        columns: [
          'name',
          'severity',
          'violations',
          { name: 'let_through', label: 'Let through' },
          'description',
          { name: 'sample', label: 'Rows', show: showSample },
        ],
      }),
    )}</div>
${renderSection('Schema drift', renderDrift(ran.rows[0] === undefined ? null : readRow(ran, ran.rows[0])('schema_drift')))}
${renderSection('Freshness', renderAnswer(seen, sources, { caption: 'The 50 stalest sources', columns: ['shop', ...FRESHNESS], empty: 'No read has shown sources yet.' }))}
${renderSection('Datasets', renderAnswer(described, datasets, { caption: 'As the service describes them, beside the copy', empty: 'The service names no datasets.' }))}
${renderSection('Changes by day', renderAnswer(changed, changes, { caption: 'Changes of 30 days, by kind' }))}`,
  };
}

function showSample(value: unknown): Content {
  const text = String(value ?? '');
  return text === '' || text === '[]' ? '–' : html`<details><summary>show</summary><pre>${text}</pre></details>`;
}

function renderDrift(drift: unknown): Content {
  const text = typeof drift === 'string' ? drift : '';
  if (text === '' || text === '[]')
    return html`<p class="soft">Answers of the newest run were as the API document describes them.</p>`;
  return html`<pre tabindex="0">${foreign(text, 10_000)}</pre>`;
}
