import { isLosslessNumber, parse } from 'lossless-json';
import { type Content, type Html, html } from '../../formats/html.js';
import { countOf, foreign, formatCount, moment } from '../format.js';
import type { CheckRow } from '../rows.js';
import { renderTable } from '../table.js';
import type { Section } from './section.js';

const SEVERITIES = {
  gate: 'gate: holds a batch back',
  error: 'error: published, but wrong',
  warn: 'warning: worth a look',
} as const;

/** What the checks of the last run found, and what to do about it (`next`, by name of the check). */
export function checksSection(checks: readonly CheckRow[], next: ReadonlyMap<string, string>): Section {
  const failed = checks.filter(({ violations }) => violations > 0n);
  const passed = checks.filter(({ violations }) => violations === 0n);
  const [first] = checks;
  const body =
    first === undefined
      ? html`<p>No run has been checked yet.</p>`
      : html`<p>${countOf(checks.length, 'check')} looked at the copy before the run of ${moment(first.checked_at)} was published:
${formatCount(passed.length)} passed, ${formatCount(failed.length)} found something.</p>
${failed.map((check) => renderFinding(check, next.get(check.name)))}
${passed.length === 0 ? '' : renderPassed(passed)}`;
  return { id: 'checks', title: 'Checks', body };
}

function renderFinding(check: CheckRow, next: string | undefined): Html {
  const { name, severity, description, violations, sample, let_through } = check;
  return html`<article class="finding ${severity === 'warn' ? 'slight' : 'grave'}">
<h3>${name} <span class="tag">${SEVERITIES[severity]}</span></h3>
<p>${description} <strong>${countOf(violations, 'violation')}.</strong>${let_through ? ' A person published the batch all the same.' : ''}</p>
${next === undefined ? '' : html`<p class="next">${next}</p>`}
${renderSample(name, sample)}
</article>
`;
}

function renderPassed(checks: readonly CheckRow[]): Html {
  const columns = [
    { label: 'Check', cell: ({ name }: CheckRow) => name },
    { label: 'What holds', cell: ({ description }: CheckRow) => description },
    { label: 'Severity', cell: ({ severity }: CheckRow) => severity },
  ];
  return html`<details><summary>${countOf(checks.length, 'check')} passed</summary>
${renderTable({ caption: 'Checks that found nothing', columns, rows: checks, cards: true })}
</details>`;
}

/** First rows that violate a check; what they hold comes from the service. */
function renderSample(name: string, sample: string): Content {
  const rows = parseSample(sample);
  if (rows === undefined || rows.length === 0) return '';
  const labels = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = labels.map((label) => ({
    label,
    cell: (row: Record<string, unknown>) => renderValue(row[label]),
  }));
  return html`<details><summary>First ${countOf(rows.length, 'row')}</summary>
${renderTable({ caption: `First rows that ${name} found`, columns, rows })}
</details>`;
}

/** The rows with numbers as they stand there: ids exceed what a double holds. */
function parseSample(sample: string): Record<string, unknown>[] | undefined {
  try {
    const rows: unknown = parse(sample);
    return Array.isArray(rows) ? rows.filter((row) => typeof row === 'object' && row !== null) : undefined;
  } catch {
    return undefined;
  }
}

function renderValue(value: unknown): Content {
  if (value === null || value === undefined) return foreign(null);
  if (isLosslessNumber(value)) return value.toString();
  return foreign(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
