import { loadTableSchema, type TableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES } from '../../src/tables/table.js';

/** Renders `docs/reference/tables.md`. A column that is equal to one in an earlier table is only named. */
export function renderTables(): string {
  const first = new Map<string, string>();
  const sections = TABLE_NAMES.map(loadTableSchema).map((schema) => renderTable(schema, first));
  return `# Tables

\`pricelake schema items\` prints one table. \`schemas/*.yaml\` are the only authority on names and types.

- \`?\` after a type: the column may be null.
- Money is DECIMAL(18,4): exact, never a float.
- TIMESTAMPTZ is an instant in UTC with microseconds.
- Ids and cursors are BIGINT. Some exceed 2^53, so read them as 64-bit integers.
- JSON is kept as text.

${TABLE_NAMES.map((name) => `[${name}](#${name})`).join(' · ')}

${sections.join('\n')}`;
}

function renderTable(schema: TableSchema, first: Map<string, string>): string {
  const { table, description, key, partitionBy, source, columns } = schema;
  const names = (list: readonly string[]) => list.map((name) => `\`${name}\``).join(', ');
  const facts = [
    key.length === 0 ? '' : `Key: ${names(key)}.`,
    partitionBy.length === 0 ? '' : `Partitioned by ${names(partitionBy)}.`,
    source === 'pricelake' ? '' : `Source: ${source}.`,
  ];
  const lines: string[] = [];
  const known = new Map<string, string[]>();
  for (const column of columns) {
    const type = `${column.type.replace('TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ')}${column.nullable ? '?' : ''}`;
    const line = `- \`${column.name}\` ${type}: ${column.description}`;
    const before = first.get(line);
    if (before === undefined) {
      first.set(line, table);
      lines.push(line);
    } else known.set(before, [...(known.get(before) ?? []), column.name]);
  }
  const others = [...known].map(([before, list]) => `- As in [${before}](#${before}): ${names(list)}`);
  const lead = facts.filter((fact) => fact !== '').join(' ');
  return `## ${table}\n\n${[description, lead, [...lines, ...others].join('\n')].filter(Boolean).join('\n\n')}\n`;
}
