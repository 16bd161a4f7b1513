import { stringify } from 'lossless-json';
import { PricelakeError } from '../io/errors.js';
import { PRICELAKE_VERSION } from '../io/package-path.js';
import type { TableSchema } from '../tables/schemas.js';
import { writeCatalogStatements } from './catalogs.js';
import { writeDbt } from './dbt.js';
import { describeJson, describeSparkSchema } from './json-schema.js';
import { writeMarkdown } from './markdown.js';
import { CATALOGS, type ContractFormat } from './names.js';
import { writeOdcs } from './odcs.js';
import { SQL_DIALECTS, writeSql } from './sql-dialects.js';

export interface ContractForm {
  format: ContractFormat;
  /** True if the contract describes one table, false if it describes all tables. */
  isOne: boolean;
  /** The address at which the system that reads the contract reaches the lake. */
  base: string | undefined;
}

/**
 * Formats the contracts of tables for another system.
 * @throws PricelakeError `usage` if `base` is missing or invalid, or the format doesn't use it
 */
export async function writeContracts(
  schemas: TableSchema[],
  { format, isOne, base }: ContractForm,
): Promise<string | Uint8Array> {
  refuseUselessBase(format, base);
  switch (format) {
    case 'markdown':
      return schemas.map(writeMarkdown).join('\n');
    case 'json':
      return `${stringify(describeJson(schemas, isOne))}\n`;
    case 'spark': {
      const all = schemas.map((schema) => [schema.table, describeSparkSchema(schema)] as const);
      return `${JSON.stringify(isOne ? all[0]?.[1] : Object.fromEntries(all))}\n`;
    }
    case 'odcs':
      return writeOdcs(schemas, PRICELAKE_VERSION);
    case 'dbt':
      return writeDbt(schemas, base);
    case 'unity':
    case 'glue':
    case 'hive':
      return writeCatalogStatements(schemas, format, base);
    case 'arrow':
      // The Arrow library is large, so it is loaded only for this format.
      return (await import('./arrow-schema.js')).writeArrowSchema(schemas[0] as TableSchema);
    default:
      return schemas.map((schema) => writeSql(schema, SQL_DIALECTS[format])).join('\n');
  }
}

/** Throws if a base is given for a format that doesn't use it. */
function refuseUselessBase(format: ContractFormat, base: string | undefined): void {
  const formats: ContractFormat[] = ['dbt', ...CATALOGS];
  if (base === undefined || formats.includes(format)) return;
  throw new PricelakeError('usage', `--base does not apply to --format ${format}`, {
    hint: `Only these formats use it: ${formats.join(', ')}.`,
  });
}
