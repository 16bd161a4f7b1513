import { readFileSync } from 'node:fs';
import { listAnalyses } from '../../src/analyze/analysis.js';
import { packagePath } from '../../src/io/package-path.js';

/** `docs/reference/analyses.md`. */
export function renderAnalyses(): string {
  const sections = listAnalyses().map((name) => `## ${name}\n\n${readFirstComment(name)}\n`);
  return `# Analyses

\`npm run docs\` generates this page from the first comment of each file in \`pipelines/analysis\`.

Run one with \`pricelake query --analysis NAME\`. Set a variable with \`--set name=value\`. The value in brackets is the
default.

${sections.join('\n')}`;
}

/** The comment that a query begins with; what begins with "Source:" and the like, or "Variable", is a paragraph of its own. */
function readFirstComment(name: string): string {
  const sql = readFileSync(packagePath(`pipelines/analysis/${name}.sql`), 'utf8');
  const [comment = ''] = /^(?:--.*\n)+/.exec(sql) ?? [];
  return comment
    .replaceAll(/^-- ?/gm, '')
    .trim()
    .replaceAll(/\s((?:Source|Exact|Limits|In plain DuckDB, first):|Optional variables:|Variables?\b)/g, '\n\n$1');
}
