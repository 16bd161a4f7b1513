import { readFileSync } from 'node:fs';
import { listAnalyses } from '../../src/analyze/analysis.js';
import { packagePath } from '../../src/io/package-path.js';

/** `docs/reference/analyses.md`. */
export function renderAnalyses(): string {
  const sections = listAnalyses().map((name) => `## ${name}\n\n${readFirstComment(name)}\n`);
  return `# Analyses

\`npm run docs\` generates this page from the first comment of each file in \`pipelines/analysis\`.

Run one with \`pricelake query --analysis NAME\`. Set a variable with \`--set name=value\`; the value in brackets is the default. Counts, prices and times are exact; percentages, means and indices are doubles, unless the first lines of the file say otherwise. The files also run in plain DuckDB ([how](../analyst/measure-prices.md#run-one)).

${sections.join('\n')}`;
}

/** The comment that a query begins with; what begins with "Source:" and the like, or "Variable", is a paragraph of its own. */
function readFirstComment(name: string): string {
  const sql = readFileSync(packagePath(`pipelines/analysis/${name}.sql`), 'utf8');
  const [comment = ''] = /^(?:--.*\n)+/.exec(sql) ?? [];
  const paragraphs = comment
    .replaceAll(/^-- ?/gm, '')
    .trim()
    .split(/\s(?=(?:Source|Exact|Limits|In plain DuckDB, first):|Optional variables:|Variables?\b)/g);
  // These are for somebody who has the file open.
  const shown = paragraphs.filter((paragraph) => !/^(?:In plain DuckDB|Exact:)/.test(paragraph));
  return shown.map((paragraph) => paragraph.replace(/^Optional variables:/, 'Optional:')).join('\n\n');
}
