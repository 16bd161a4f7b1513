import { writeContracts } from '../../deliver/contract.js';
import { PricelakeError } from '../../io/errors.js';
import { loadTableSchema } from '../../tables/schemas.js';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import type { Arguments, CommandContext } from '../command.js';
import type { schema } from '../commands/deliver.js';
import { hangText, wrapText } from '../output/display-width.js';
import { writeText } from '../output/output.js';

export async function showSchema(request: Arguments<typeof schema>, context: CommandContext) {
  const { table, output, base, format = 'markdown' } = request;
  const tables = table === undefined ? [...TABLE_NAMES] : [table];
  if (request.format === undefined && table === undefined && output === undefined && !context.json) {
    await context.output.write(listTables(tables, context.output.columns));
    return undefined;
  }
  if (format === 'arrow') requireArrowTarget(request, context);
  const form = { format, isOne: table !== undefined, base };
  const text = await writeContracts(tables.map(loadTableSchema), form);
  return { tables, format, ...(await writeText(text, output, context)) };
}

/**
 * Lists the tables with their descriptions, but without their columns, which would be too long a list for a terminal.
 */
function listTables(tables: readonly TableName[], columns: number | undefined): string {
  const width = Math.max(...tables.map((table) => table.length)) + 2;
  const lines = tables.map((table) => {
    const [sentence = ''] = /^.*?\.(?=\s|$)/u.exec(loadTableSchema(table).description) ?? [];
    return `${hangText(table.padEnd(width), sentence, columns)}\n`;
  });
  const advice =
    '`pricelake schema TABLE` shows the columns of a table, and --format prints the schemas of all tables for another system.';
  return `${lines.join('')}\n${wrapText(advice, columns)}\n`;
}

function requireArrowTarget({ table, output }: Arguments<typeof schema>, context: CommandContext): void {
  if (table === undefined) {
    throw new PricelakeError('usage', '--format arrow needs a single table', { hint: 'Add a table name.' });
  }
  if (output === undefined && (context.json || context.output.columns !== undefined)) {
    throw new PricelakeError('usage', "can't write --format arrow to a terminal", {
      hint: 'Write to a file with --output, or pipe the output.',
    });
  }
}
