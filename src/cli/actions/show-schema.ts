import { describeJson, describeSparkSchema } from '../../deliver/json-schema.js';
import { writeMarkdown } from '../../deliver/markdown.js';
import type { ContractFormat } from '../../deliver/names.js';
import { writeOdcs } from '../../deliver/odcs.js';
import { SQL_DIALECTS, writeSql } from '../../deliver/sql-dialects.js';
import { PricelakeError } from '../../io/errors.js';
import { PRICELAKE_VERSION } from '../../io/package-path.js';
import { loadTableSchema, type TableSchema } from '../../tables/schemas.js';
import { TABLE_NAMES } from '../../tables/table.js';
import type { Arguments, CommandContext } from '../command.js';
import type { schema } from '../commands/deliver.js';
import { toJsonText } from '../json-text.js';
import { writeText } from '../output/output.js';

export async function showSchema(request: Arguments<typeof schema>, context: CommandContext) {
  const { table, format, output } = request;
  const tables = table === undefined ? [...TABLE_NAMES] : [table];
  if (format === 'arrow') requireArrowTarget(request, context);
  const text = await renderContracts(tables.map(loadTableSchema), format, table !== undefined);
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

async function renderContracts(
  schemas: TableSchema[],
  format: ContractFormat,
  isOne: boolean,
): Promise<string | Uint8Array> {
  switch (format) {
    case 'markdown':
      return schemas.map(writeMarkdown).join('\n');
    case 'json':
      return `${toJsonText(describeJson(schemas, isOne))}\n`;
    case 'spark': {
      const all = schemas.map((schema) => [schema.table, describeSparkSchema(schema)] as const);
      return `${toJsonText(isOne ? all[0]?.[1] : Object.fromEntries(all))}\n`;
    }
    case 'odcs':
      return writeOdcs(schemas, PRICELAKE_VERSION);
    case 'arrow':
      // Its library is large.
      return (await import('../../deliver/arrow-schema.js')).writeArrowSchema(schemas[0] as TableSchema);
    default:
      return schemas.map((schema) => writeSql(schema, SQL_DIALECTS[format])).join('\n');
  }
}
