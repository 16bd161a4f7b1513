import type { TableSchema } from '../tables/schemas.js';

/** Formats a table's section of docs/reference/tables.md. */
export function writeMarkdown({ table, description, key, partitionBy, source, columns }: TableSchema): string {
  const names = (list: string[]) => list.map((name) => `\`${name}\``).join(', ');
  const facts = [
    key.length === 0 ? '' : `Key: ${names(key)}.`,
    partitionBy.length === 0 ? '' : `Partitioned by ${names(partitionBy)}.`,
    `Source: ${source}.`,
  ];
  const rows = columns.map((column) => [
    `\`${column.name}\``,
    column.type,
    column.nullable ? 'may be null' : '',
    column.description,
  ]);
  const lead = facts.filter((fact) => fact !== '').join(' ');
  return `## ${table}\n\n${description}\n\n${lead}\n\n${renderTable(['column', 'type', '', 'meaning'], rows)}`;
}

/** Aligns columns in the same way as the code formatter. */
export function renderTable(head: string[], rows: string[][]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  const line = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  const [first = [], ...body] = cells;
  return line(first) + line(rule) + body.map(line).join('');
}
