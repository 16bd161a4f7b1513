import { readFileSync } from 'node:fs';
import { listAnalyses } from '../../src/analyze/analysis.js';
import { describeType, readVariables, type Variable } from '../../src/analyze/variables.js';
import { packagePath } from '../../src/io/package-path.js';

/** `docs/reference/analyses.md`. */
export function renderAnalyses(): string {
  const sections = listAnalyses().map((name) => `## ${name}\n\n${readFirstComment(name)}\n${renderVariables(name)}`);
  return `# Analyses

\`npm run docs\` generates this page from the first comment of each file in \`pipelines/analysis\`.

Run one with \`pricelake query --analysis NAME\`. Set a variable with \`--set name=value\`; \`any of\` takes several values, such as \`--set by="category and shop"\`. Counts, prices and times are exact; percentages, means and indices are doubles, unless the first lines of the file say otherwise. The files also run in plain DuckDB ([how](../analyst/measure-prices.md#run-one)).

${sections.join('\n')}`;
}

/** The comment that a query begins with; what begins with "Source:" and the like is a paragraph of its own. */
function readFirstComment(name: string): string {
  const sql = readFileSync(packagePath(`pipelines/analysis/${name}.sql`), 'utf8');
  const [comment = ''] = /^(?:--.*\n)+/.exec(sql) ?? [];
  const [about = ''] = comment.split('-- Variables:\n', 1);
  const paragraphs = about
    .replaceAll(/^-- ?/gm, '')
    .trim()
    .split(/\s(?=(?:Source|Exact|Limits|In plain DuckDB, first):)/g);
  // These are for somebody who has the file open.
  const shown = paragraphs.filter((paragraph) => !/^(?:In plain DuckDB|Exact:)/.test(paragraph));
  return shown.join('\n\n');
}

function renderVariables(name: string): string {
  const variables = readVariables(name);
  if (variables.length === 0) return '';
  const rows = variables.map(
    (one) => `| \`${one.name}\` | ${toCell(describeType(one))} | ${describeDefault(one)} | ${toCell(one.about)} |`,
  );
  return `\n| variable | value | default | meaning |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

const toCell = (text: string) => text.replaceAll('|', '\\|');
const describeDefault = ({ isRequired, default: unset = '' }: Variable) => (isRequired ? 'required' : unset);
