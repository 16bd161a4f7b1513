import { PricelakeError } from '../io/errors.js';
import type { ColumnType, TableSchema } from '../tables/schemas.js';
import type { Catalog } from './names.js';
import { SQL_DIALECTS } from './sql-dialects.js';

const { quote, quoteText } = SQL_DIALECTS.databricks;

/** The column types for Hive 4, which reads Parquet timestamps as UTC. */
const HIVE_TYPES: Record<ColumnType, string> = {
  ...SQL_DIALECTS.databricks.types,
  'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP',
};

interface CatalogForm {
  /**
   * The pattern of addresses that the catalog can read, and an example for messages. The pattern excludes quotes and
   * white space.
   */
  base: { pattern: RegExp; example: string };
  /** Returns a statement that registers the table in place. */
  register: (schema: TableSchema, location: string) => string;
}

const address = (schemes: string) => new RegExp(`^(${schemes})://[\\w.@-]*(/[\\w.=+@~-]+)*$`);

const CATALOG_FORMS: Record<Catalog, CatalogForm> = {
  // The statement lists no columns, because Unity Catalog reads columns and descriptions from the Delta log.
  unity: {
    base: { pattern: address('s3|gs|abfss|r2'), example: 's3://bucket/lake' },
    register: ({ table, description }, location) =>
      `CREATE TABLE ${quote(table)}\nUSING DELTA\nCOMMENT ${quoteText(description)}\nLOCATION ${quoteText(location)}`,
  },
  glue: {
    base: { pattern: address('s3'), example: 's3://bucket/lake' },
    register: ({ table }, location) =>
      `CREATE EXTERNAL TABLE ${quote(table)}\nLOCATION ${quoteText(`${location}/`)}\nTBLPROPERTIES ('table_type' = 'DELTA')`,
  },
  // Registers the table without partitions, because each file also contains the partition columns.
  hive: {
    base: { pattern: address('s3a?|gs|abfss?|hdfs|file'), example: 's3a://bucket/lake' },
    register: ({ table, description, columns }, location) => {
      const lines = columns.map(
        (column) => `  ${quote(column.name)} ${HIVE_TYPES[column.type]} COMMENT ${quoteText(column.description)}`,
      );
      return `CREATE EXTERNAL TABLE ${quote(table)} (\n${lines.join(',\n')}\n)\nCOMMENT ${quoteText(description)}\nSTORED AS PARQUET\nLOCATION ${quoteText(location)}`;
    },
  },
};

/**
 * Formats the statements that register the lake's tables in a catalog, without copying any data.
 * @param base the address at which the catalog reaches the lake
 * @throws PricelakeError `usage` for an address that the catalog can't read, or that isn't safe in SQL
 */
export function writeCatalogStatements(
  schemas: readonly TableSchema[],
  catalog: Catalog,
  base: string | undefined,
): string {
  const form = CATALOG_FORMS[catalog];
  const place = base?.replace(/\/+$/, '') ?? '';
  if (!form.base.pattern.test(place)) {
    throw new PricelakeError('usage', `--format ${catalog} needs the address of the lake's files`, {
      hint: `Pass the address as the catalog sees it, such as --base ${form.base.example}.`,
    });
  }
  return schemas.map((schema) => `${form.register(schema, `${place}/${schema.table}`)};\n`).join('\n');
}
