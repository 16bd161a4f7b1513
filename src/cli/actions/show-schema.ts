import { writeFile } from 'node:fs/promises';
import type { ContractFormat } from '../../deliver/names.js';
import { PricelakeError } from '../../io/errors.js';
import { PRICELAKE_VERSION } from '../../io/package-path.js';
import { loadTableSchema, type TableSchema } from '../../tables/schemas.js';
import { TABLE_NAMES } from '../../tables/table.js';
import type { Arguments } from '../command.js';
import type { schema } from '../commands/deliver.js';
import { toJsonText } from '../json-text.js';
import type { CommandContext, CommandReport } from '../run-command.js';

/** Writes the contract of one table or of all in the language of another system. */
export async function showSchema(request: Arguments<typeof schema>, context: CommandContext): Promise<CommandReport> {
  const { table, format, output } = request;
  const tables = table === undefined ? [...TABLE_NAMES] : [table];
  if (format === 'arrow') requireArrowTarget(request, context);
  const text = await renderContracts(tables.map(loadTableSchema), format, table !== undefined);
  if (output !== undefined) await writeFile(output, text);
  else if (!context.json) await context.output.write(text);
  const inLine = context.json && output === undefined && typeof text === 'string' ? { text } : {};
  return { tables, format, file: output, ...inLine };
}

function requireArrowTarget({ table, output }: Arguments<typeof schema>, context: CommandContext): void {
  if (table === undefined) {
    throw new PricelakeError('usage', '--format arrow needs one table', { hint: 'Name a table.' });
  }
  if (output === undefined && (context.json || context.output.columns !== undefined)) {
    throw new PricelakeError('usage', '--format arrow is not for a terminal', {
      hint: 'Name a file with --output, or pipe the output.',
    });
  }
}

async function renderContracts(
  schemas: TableSchema[],
  format: ContractFormat,
  isOne: boolean,
): Promise<string | Uint8Array> {
  switch (format) {
    case 'markdown': {
      const { writeMarkdown } = await import('../../deliver/markdown.js');
      return schemas.map(writeMarkdown).join('\n');
    }
    case 'json': {
      const { describeJson } = await import('../../deliver/json-schema.js');
      return `${toJsonText(describeJson(schemas, isOne))}\n`;
    }
    case 'spark': {
      const { describeSparkSchema } = await import('../../deliver/json-schema.js');
      const [first] = schemas.map(describeSparkSchema);
      const all = schemas.map((schema) => [schema.table, describeSparkSchema(schema)]);
      return `${toJsonText(isOne ? first : Object.fromEntries(all))}\n`;
    }
    case 'odcs': {
      const { writeOdcs } = await import('../../deliver/odcs.js');
      return writeOdcs(schemas, PRICELAKE_VERSION);
    }
    case 'arrow': {
      const { writeArrowSchema } = await import('../../deliver/arrow-schema.js');
      return writeArrowSchema(schemas[0] as TableSchema);
    }
    default: {
      const { SQL_DIALECTS, writeSql } = await import('../../deliver/sql-dialects.js');
      return schemas.map((schema) => writeSql(schema, SQL_DIALECTS[format])).join('\n');
    }
  }
}
