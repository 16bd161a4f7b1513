import { writeContracts } from '../../deliver/contract.js';
import { PricelakeError } from '../../io/errors.js';
import { loadTableSchema } from '../../tables/schemas.js';
import { TABLE_NAMES } from '../../tables/table.js';
import type { Arguments, CommandContext } from '../command.js';
import type { schema } from '../commands/deliver.js';
import { writeText } from '../output/output.js';

export async function showSchema(request: Arguments<typeof schema>, context: CommandContext) {
  const { table, format, output, base } = request;
  const tables = table === undefined ? [...TABLE_NAMES] : [table];
  if (format === 'arrow') requireArrowTarget(request, context);
  const form = { format, isOne: table !== undefined, base };
  const text = await writeContracts(tables.map(loadTableSchema), form);
  return { tables, format, ...(await writeText(text, output, context)) };
}

function requireArrowTarget({ table, output }: Arguments<typeof schema>, context: CommandContext): void {
  if (table === undefined) {
    throw new PricelakeError('usage', '--format arrow needs a single table', { hint: 'Name a table.' });
  }
  if (output === undefined && (context.json || context.output.columns !== undefined)) {
    throw new PricelakeError('usage', "can't write --format arrow to a terminal", {
      hint: 'Write to a file with --output, or pipe the output.',
    });
  }
}
