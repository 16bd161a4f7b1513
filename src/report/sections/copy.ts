import { countOf, formatCount } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { drawChart } from '../chart.js';
import { changesChart, KINDS } from '../charts/changes.js';
import { foreign, formatDay, formatDuration, formatPercent, moment } from '../format.js';
import { type Column, renderFigure, renderFigures, renderTable, type Section } from '../layout.js';
import { CHANGE_DAYS, type ReportFacts } from '../read-facts.js';
import type { Dataset, DayChanges, Run } from '../rows.js';

/** Shows how fresh the copy is, what the last runs did and cost, and if their rows add up. */
export async function copySection(facts: ReportFacts, generatedAt: Date): Promise<Section> {
  const { overview, runs, datasets, changes } = facts;
  const { listed, items, changes: known, oldest_change, newest_change } = overview;
  const figures = renderFigures([
    { name: 'Newest change', ...renderMoment(newest_change, describeLag(facts)) },
    { name: 'Last run', ...renderMoment(runs[0]?.finished_at ?? null, describeRun(runs[0])) },
    ...renderCurrent(runs, generatedAt),
    { name: 'Listings', value: formatCount(listed), note: `and ${formatCount(items - listed)} no longer listed` },
    {
      name: 'Changes',
      value: formatCount(known),
      note: oldest_change === null ? '' : `since ${formatDay(oldest_change)}`,
    },
  ]);
  const body: Content[] = [
    changes.length === 0 ? figures : html`<div class="pair">${figures}${await renderChanges(changes)}</div>`,
    explainListing(runs[0]),
    runs.length === 0 ? '' : [explainProof(runs), renderRuns(runs)],
    datasets.length === 0 ? '' : renderDatasets(datasets),
  ];
  return { id: 'copy', title: 'State of the copy', body };
}

/** Puts the time of day and the note below the day. */
function renderMoment(at: Date | null, note: string): { value: Content; note: Content } {
  if (at === null) return { value: 'none yet', note: '' };
  const time = `${at.toISOString().slice(11, 16)} UTC`;
  return {
    value: html`<time datetime="${at.toISOString()}">${formatDay(at)}</time>`,
    note: note === '' ? time : `${time}, ${note}`,
  };
}

/** The copy is current up to the newest run that caught up with the service. */
function renderCurrent(runs: readonly Run[], generatedAt: Date) {
  const at = runs.find(({ caught_up_at }) => caught_up_at !== null)?.caught_up_at;
  if (at === undefined || at === null) return [];
  const age = generatedAt.getTime() - at.getTime();
  return [{ name: 'Current up to', ...renderMoment(at, age < 0 ? '' : `${formatDuration(age)} before this report`) }];
}

/** Time between the newest change and the end of the last run. */
function describeLag({ overview, runs }: ReportFacts): string {
  const end = runs[0]?.finished_at;
  if (end === undefined || overview.newest_change === null) return '';
  const lag = end.getTime() - overview.newest_change.getTime();
  return lag < 0 ? "by the service's clock" : `${formatDuration(lag)} before the last run ended`;
}

function describeRun(run: Run | undefined): string {
  if (run === undefined) return '';
  if (run.listing_unknown > 0n) return 'not caught up';
  if (run.stale_items > 0n) return `${countOf(run.stale_items, 'item')} may be out of date`;
  return run.caught_up ? 'nothing more was waiting' : 'more changes were waiting';
}

function explainListing(run: Run | undefined): Content {
  if (run === undefined || run.listing_unknown === 0n) return '';
  return html`<p><strong>Run ${run.run_number} could not establish whether up to ${countOf(run.listing_unknown, 'item')} are still listed</strong>: ${foreign(run.reason, 600)}.</p>`;
}

async function renderChanges(days: readonly DayChanges[]): Promise<Html> {
  const sums = KINDS.map(({ kind, name }) => {
    const sum = days.reduce((total, day) => (day.kind === kind ? total + day.changes : total), 0n);
    return html`<li class="key-${kind.toLowerCase()}">${formatCount(sum)} ${name}</li>\n`;
  });
  return renderFigure(
    `Changes a day, the last ${CHANGE_DAYS} days up to the newest`,
    await drawChart(changesChart(days)),
    html`<ul class="legend">${sums}</ul>`,
  );
}

function renderRuns(runs: readonly Run[]): Html {
  const columns: Column<Run>[] = [
    { label: 'Run', cell: ({ run_number, mode }) => html`${run_number} <span class="soft">${mode}</span>` },
    { label: 'Ended', cell: ({ finished_at }) => moment(finished_at) },
    { label: 'Took', numeric: true, cell: ({ seconds }) => formatDuration(seconds * 1000) },
    { label: 'Calls', numeric: true, cell: ({ calls }) => formatCount(calls) },
    { label: 'Export rows', numeric: true, cell: renderExportRows },
    { label: 'Received', numeric: true, cell: ({ received }) => formatCount(received) },
    { label: '= written', numeric: true, cell: ({ written }) => formatCount(written) },
    { label: '+ rejected', numeric: true, cell: ({ rejected }) => formatCount(rejected) },
    { label: '+ deduplicated', numeric: true, cell: ({ deduplicated }) => formatCount(deduplicated) },
    { label: 'Compared', numeric: true, cell: renderProof },
    { label: 'Adds up', cell: ({ adds_up }) => (adds_up ? 'yes' : html`<strong class="bad">no</strong>`) },
  ];
  const last = runs.length === 1 ? 'last run' : `last ${countOf(runs.length, 'run')}`;
  const caption = `The ledger: the cost of the ${last}, and what became of the rows received`;
  return renderTable({ caption, columns, rows: runs });
}

function renderExportRows({ export_rows, export_rows_landed, overage }: Run): Content {
  const notes = [
    ...(export_rows_landed === export_rows ? [] : [`${formatCount(export_rows_landed)} landed`]),
    ...(overage ? ['with overage'] : []),
  ];
  return html`${formatCount(export_rows)}${notes.map((note) => html` <small class="attention">${note}</small>`)}`;
}

/** Shows the sample that was read again, and what a complete copy found. */
function renderProof({ sampled, sample_mismatches, differences, gone }: Run): Content {
  const notes = [
    ...(sample_mismatches > 0n ? [`${formatCount(sample_mismatches)} differed`] : []),
    ...(differences > 0n ? [`${formatCount(differences)} repaired`] : []),
    ...(gone > 0n ? [`${formatCount(gone)} gone`] : []),
  ];
  return html`${formatCount(sampled)}${notes.map((note) => html` <small class="attention">${note}</small>`)}`;
}

/** Without a difference, this many sampled items bound the rate of errors below three percent. */
const ENOUGH = 100;

function explainProof(runs: readonly Run[]): Content {
  const [last] = runs;
  if (last === undefined || last.all_sampled === 0n) {
    return html`<p>No run compared a sample with the service (proof.sample).</p>`;
  }
  const { all_sampled: sampled, all_mismatches: different, products_compared, products_different } = last;
  const found =
    different === 0n
      ? 'found no difference.'
      : `found that ${countOf(different, 'item')} differed, which ${different === 1n ? 'was' : 'were'} repaired or reported.`;
  // Without a difference, the bound of 95 % confidence is 1 - 0.05^(1/n).
  const bound =
    different === 0n && sampled >= ENOUGH
      ? ` With 95 % confidence, at most ${formatPercent(100 * (1 - 0.05 ** (1 / Number(sampled))))} of what these runs published differed.`
      : '';
  const products =
    products_compared === 0n
      ? ''
      : ` Run ${last.run_number} also compared ${countOf(products_compared, 'product')}, of which ${formatCount(products_different)} differed.`;
  return html`<p>Proof of the copy: each run reads a few random items again, one by one. All runs together compared ${countOf(sampled, 'item')} and ${found}${bound}${products}</p>`;
}

const tellMoment = (at: Date | null) => (at === null ? 'never' : moment(at));

function renderDatasets(datasets: readonly Dataset[]): Html {
  const columns: Column<Dataset>[] = [
    { label: 'Dataset', cell: ({ name }) => foreign(name) },
    { label: 'Listed, says the service', numeric: true, cell: ({ items }) => formatCount(items) },
    { label: 'Listed in the copy', numeric: true, cell: ({ copied }) => formatCount(copied) },
    { label: 'Shops', numeric: true, cell: ({ sites }) => formatCount(sites) },
    {
      label: 'Sources collecting',
      numeric: true,
      cell: ({ healthy_models, models }) => html`${formatCount(healthy_models)} of ${formatCount(models)}`,
    },
    { label: 'Read last', cell: ({ newest_scrape_at }) => tellMoment(newest_scrape_at) },
    { label: 'Read longest ago', cell: ({ oldest_scrape_at }) => tellMoment(oldest_scrape_at) },
  ];
  const caption = 'Datasets and the health of their sources, as the service said in the last run that asked';
  return renderTable({ caption, columns, rows: datasets });
}
