import { isLosslessNumber, parse } from 'lossless-json';
import { countOf, formatCount } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { foreign, moment } from '../format.js';
import { renderTable, type Section } from '../layout.js';
import type { CheckRow } from '../rows.js';

const SEVERITIES = {
  gate: 'gate: holds a batch back',
  error: 'error: published, but wrong',
  warn: 'warning: worth a look',
} as const;

/** A check's own file says it beside the rule. */
export interface Advice {
  /** Follows the number of rows: `[price is|prices are] below zero`. */
  found?: string | undefined;
  /** Tells where to look. */
  next: string;
}

/** `2 prices are below zero.` A check without `found` gives its rule. */
export function describeFinding(
  { violations, description }: Pick<CheckRow, 'violations' | 'description'>,
  advice: Pick<Advice, 'found'> | undefined,
): string {
  if (advice?.found === undefined) return `${countOf(violations, 'violation')}: ${description}`;
  const words = advice.found.replace(/\[([^|\]]*)\|([^\]]*)\]/gu, violations === 1n ? '$1' : '$2');
  return `${formatCount(violations)} ${words}.`;
}

export function checksSection(checks: readonly CheckRow[], advice: ReadonlyMap<string, Advice>): Section {
  const failed = checks.filter(({ violations }) => violations > 0n);
  const passed = checks.filter(({ violations }) => violations === 0n);
  const [first] = checks;
  const body =
    first === undefined
      ? html`<p>No run has been checked yet.</p>`
      : html`<p>${countOf(checks.length, 'check')} looked at the copy before the run of ${moment(first.checked_at)} was published:
${formatCount(passed.length)} passed, ${formatCount(failed.length)} found something.</p>
${failed.map((check) => renderFinding(check, advice.get(check.name)))}
${passed.length === 0 ? '' : renderPassed(passed)}`;
  return { id: 'checks', title: 'Checks', body };
}

function renderFinding(check: CheckRow, advice: Advice | undefined): Html {
  const { name, severity, description, sample, let_through } = check;
  return html`<article class="finding ${severity === 'warn' ? 'slight' : 'grave'}">
<h3>${name} <span class="tag">${SEVERITIES[severity]}</span></h3>
<p><strong>${describeFinding(check, advice)}</strong>${let_through ? ' A person published the batch all the same.' : ''}</p>
${advice === undefined ? '' : html`<p class="next">${advice.next}</p>`}
${advice?.found === undefined ? '' : html`<p class="soft">The rule: ${description}</p>`}
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

/** Shows the first violations, which hold foreign text. */
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

/** Keeps numbers as text, because ids exceed a double. */
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
