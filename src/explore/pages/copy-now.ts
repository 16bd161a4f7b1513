import { countOf, formatCount } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { cutText, foreign, formatDuration, moment } from '../format.js';
import type { CopyNow, PublishedState, RemoteState, TriedRun } from '../now.js';
import { renderSection } from '../page.js';

/** Renders the state of an unfinished run, and why the last process failed. */
export function renderNow({ lines, tries: [last] }: CopyNow): Content {
  const list = lines.length === 0 ? '' : html`<ul>${lines.map((line) => html`<li>${showTimes(line)}</li>`)}</ul>`;
  return html`${list}${last?.fault === undefined ? '' : renderFault(last, last.fault)}`;
}

/** Renders a sentence that the command line prints, with its times in the format of pages. */
const showTimes = (line: string): Html =>
  html`<bdi>${cutText(line, 1000)
    .split(INSTANT)
    .map((part, k) => (k % 2 === 1 ? moment(new Date(part)) : part))}</bdi>`;

const INSTANT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/u;

function renderFault({ runNumber, endedAt }: TriedRun, fault: NonNullable<TriedRun['fault']>): Html {
  const { step, code, message, hint } = fault;
  return html`<article class="finding grave">
<h2>Run ${runNumber} failed in step ${step} <span class="tag">${code}</span></h2>
<p>${moment(new Date(endedAt))}${message === undefined ? '' : html`: <strong>${foreign(message, 1000)}</strong>`}</p>
${hint === undefined ? '' : html`<p class="next">${foreign(hint, 1000)}</p>`}
</article>
`;
}

/** Renders the seconds of each step, with one row per process. A run that was interrupted has several processes. */
export function renderSteps(tries: readonly TriedRun[]): Html {
  const about = html`<p>A run opens the lake, lands bytes, applies them, derives tables, proves them, publishes and compacts (<code>pricelake status --json</code> has the same figures).</p>`;
  if (tries.length === 0) {
    return renderSection(
      'Steps',
      html`<p class="soft">No run has recorded its steps yet. Runs that are killed don't record them.</p>`,
    );
  }
  const steps = [...new Set(tries.flatMap((one) => Object.keys(one.steps)))];
  const renderRow = (one: TriedRun) => {
    const { runNumber, begunAt, endedAt, fault } = one;
    const whole = (Date.parse(endedAt) - Date.parse(begunAt)) / 1000;
    return html`<tr role="row"><th scope="row" role="rowheader">${runNumber}</th>
${renderCell('Began', moment(new Date(begunAt)), begunAt)}${[
  ...steps.map((step) => [step, one.steps[step]] as const),
  ['All', whole] as const,
].map(([step, seconds]) =>
  renderSeconds(step, seconds),
)}${renderCell('Failed', fault === undefined ? html`<span class="none">–</span>` : `${fault.code} in ${fault.step}`)}</tr>
`;
  };
  return renderSection(
    'Steps',
    html`${about}<div class="frame cards">
<table role="table" data-whole="" data-analysis="steps">
<caption><span>Seconds of each step, by process; the newest first</span></caption>
<thead role="rowgroup"><tr role="row">${renderHead('run_number', 'Run', false)}${renderHead('begun_at', 'Began', false)}${steps.map((step) => renderHead(step, toTitle(step), true))}${renderHead('seconds', 'All', true)}${renderHead('failed', 'Failed', false)}</tr></thead>
<tbody role="rowgroup">
${tries.map(renderRow)}</tbody>
</table>
</div>`,
  );
}

const toTitle = (step: string) => step.charAt(0).toUpperCase() + step.slice(1);

const renderHead = (name: string, label: string, isNumber: boolean): Html =>
  html`<th scope="col" role="columnheader"${isNumber ? html` class="number"` : ''} data-name="${name}">${label}</th>`;

const renderCell = (label: string, content: Content, value?: string): Html =>
  html`<td role="cell" data-label="${label}"${value === undefined ? '' : html` data-value="${value}"`}>${content}</td>`;

const renderSeconds = (step: string, seconds: number | undefined): Html =>
  html`<td role="cell" class="number" data-label="${toTitle(step)}" data-value="${seconds ?? ''}">${seconds === undefined ? html`<span class="none">–</span>` : SECONDS.format(seconds)}</td>`;

const SECONDS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Renders how the local copy compares with the remote. Compares only the two `lake.json` files. */
export function renderRemote(state: RemoteState, now: Date): Content {
  if (state.kind === 'unasked') return '';
  return renderSection('Local and remote', describeRemote(state, now));
}

function describeRemote(state: Exclude<RemoteState, { kind: 'unasked' }>, now: Date): Content {
  if (state.kind === 'none') return html`<p>This lake has no remote: the copy is in this folder alone.</p>`;
  const url = html`<code>${state.url}</code>`;
  if (state.kind === 'asked')
    return html`<p role="status">${url} has not answered yet. This page loads again by itself.</p>`;
  if (state.kind === 'unread')
    return html`<p>${url} could not be read, so nothing is known about the copy there: ${foreign(state.reason, 400)}</p>`;
  const { local, remote, readAt } = state;
  const read = html` <small>lake.json of ${url}, read ${formatDuration(Math.max(0, now.getTime() - readAt.getTime()))} ago</small>`;
  if (remote === undefined) return html`<p>Nothing is published there yet.${read}</p>`;
  if (local === undefined) return html`<p>${tell(remote, 'there')}. This machine has no copy of it.${read}</p>`;
  const different = listDifferent(local, remote);
  if (local.runId === remote.runId && different.length === 0) {
    return html`<p>Both are the same: ${tell(local, 'here and there')}, with the same versions of ${countOf(local.versions.size, 'table')}.${read}</p>`;
  }
  return html`<p><strong>${judge(local, remote)}</strong> ${tell(local, 'here')}; ${tell(remote, 'there')}.${read}</p>${renderVersions(different)}`;
}

const tell = ({ runNumber, at }: PublishedState, where: string): Html =>
  html`run ${runNumber} ${where}, published ${moment(at)}`;

function judge(local: PublishedState, remote: PublishedState): string {
  if (local.runNumber > remote.runNumber) return 'The copy here is ahead; the next sync sends it.';
  if (local.runNumber < remote.runNumber) return 'The remote is ahead; the next sync here fetches it first.';
  if (local.runId !== remote.runId)
    return 'They went different ways: both have a run of this number, but not the same.';
  return 'They are at the same run, but not at the same versions; the next sync brings them in line.';
}

interface Versions {
  table: string;
  here: bigint | undefined;
  there: bigint | undefined;
}

function listDifferent(local: PublishedState, remote: PublishedState): Versions[] {
  return [...new Set([...local.versions.keys(), ...remote.versions.keys()])]
    .map((table) => ({ table, here: local.versions.get(table), there: remote.versions.get(table) }))
    .filter(({ here, there }) => here !== there);
}

function renderVersions(different: readonly Versions[]): Content {
  if (different.length === 0) return '';
  const version = (value: bigint | undefined) =>
    value === undefined ? html`<span class="none">–</span>` : formatCount(value);
  return html`<div class="frame cards"><table role="table" data-whole="">
<caption><span>Tables whose versions differ</span></caption>
<thead role="rowgroup"><tr role="row">${renderHead('table', 'Table', false)}${renderHead('here', 'Version here', true)}${renderHead('there', 'There', true)}</tr></thead>
<tbody role="rowgroup">${different.map(
    ({ table, here, there }) =>
      html`<tr role="row"><th scope="row" role="rowheader">${table}</th><td role="cell" class="number" data-label="Version here">${version(here)}</td><td role="cell" class="number" data-label="There">${version(there)}</td></tr>`,
  )}</tbody></table></div>`;
}
