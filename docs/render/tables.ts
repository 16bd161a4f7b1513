import { renderTable, writeMarkdown } from '../../src/deliver/markdown.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES } from '../../src/tables/table.js';

/** `docs/reference/tables.md`. */
export function renderTables(): string {
  const schemas = TABLE_NAMES.map(loadTableSchema);
  const index = schemas.map((schema) => [`[${schema.table}](#${schema.table})`, schema.description]);
  const sections = schemas.map(writeMarkdown);
  return `# Tables

\`npm run docs\` generates this page from \`schemas/*.yaml\`, the only authority on names and types.

Money is DECIMAL(18,4): exact, never a float. Times are UTC in microseconds. Ids and cursors are int64. Some exceed 2^53, so
read them as 64-bit integers. JSON is kept as text.

${renderTable(['table', 'what it holds'], index)}
${sections.join('\n')}`;
}
