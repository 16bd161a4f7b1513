import { PricelakeError } from '../io/errors.js';
import type { Column } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';
import type { TableLoad } from './load-plan.js';
import { type LoadTarget, nameTable, writeApply, writeCreate, writeLoadsTable } from './load-sql.js';
import { inLists, MAX_FILES, quoteStagePath } from './manifest-formats.js';
import { writeType } from './sql.js';
import { SQL_DIALECTS } from './sql-dialects.js';
import type { Warehouse } from './warehouse-names.js';

/** Statements of a warehouse for staging tables and transactions. */
interface WarehouseForm extends Omit<LoadTarget, 'schema'> {
  begin: string[];
  commit: string[];
  /** Form of `--base`, with an example; undefined if none is needed. */
  base: { pattern: RegExp; example: string } | undefined;
  /** SQL of the staging table's name. */
  stageName: (target: LoadTarget, table: TableName) => string;
  /** Statements that fill the staging table, before the transaction. */
  stage: (target: LoadTarget, load: TableLoad, base: string) => string[];
  /** Statements after the transaction. */
  clean: (target: LoadTarget, table: TableName) => string[];
}

/** Addresses become part of statements, so quotes and white space are refused. */
const bucket = (scheme: string) => new RegExp(`^${scheme}://[\\w.-]+(/[\\w.=+@~/-]*)?$`);

const temporary = (target: LoadTarget, table: TableName) => target.dialect.quote(`pricelake_stage_${table}`);
const permanent = (target: LoadTarget, table: TableName) => nameTable(target, `pricelake_stage_${table}`);
const drop = (target: LoadTarget, table: TableName) => [`DROP TABLE IF EXISTS ${permanent(target, table)}`];

/** Omits NOT NULL: columns of files may be null, and BigQuery refuses to load these into required columns. */
const writeColumns = ({ dialect }: LoadTarget, columns: readonly Column[]) =>
  columns.map((column) => `${dialect.quote(column.name)} ${writeType(column, dialect)}`).join(', ');

/** One COPY of Databricks takes this many names. */
const MAX_DATABRICKS = 1000;

export const WAREHOUSE_FORMS: Record<Warehouse, WarehouseForm> = {
  postgres: {
    dialect: SQL_DIALECTS.postgres,
    hasTransactions: true,
    begin: ['BEGIN'],
    commit: ['COMMIT'],
    base: undefined,
    stageName: temporary,
    stage: () => [],
    clean: () => [],
  },
  redshift: {
    dialect: SQL_DIALECTS.redshift,
    hasTransactions: true,
    begin: ['BEGIN'],
    commit: ['COMMIT'],
    base: { pattern: bucket('s3'), example: 's3://bucket/lake' },
    stageName: temporary,
    // The manifest holds the length of each file, which COPY from Parquet needs; COPY refuses one without files. It takes
    // columns by their place, which is that of the files, not of a copy that has gained some.
    stage: (target, { table, files, columns }, base) => [
      `CREATE TEMP TABLE ${temporary(target, table)} (${writeColumns(target, columns)})`,
      ...files
        .slice(0, 1)
        .map(
          () =>
            `COPY ${temporary(target, table)} FROM '${base}/_manifests/${table}.manifest' IAM_ROLE default FORMAT AS PARQUET MANIFEST SERIALIZETOJSON`,
        ),
    ],
    clean: (target, table) => [`DROP TABLE IF EXISTS ${temporary(target, table)}`],
  },
  snowflake: {
    dialect: SQL_DIALECTS.snowflake,
    hasTransactions: true,
    begin: ['BEGIN'],
    commit: ['COMMIT'],
    base: { pattern: /^@[\w.$~%/-]+$/, example: '@lake_stage' },
    stageName: permanent,
    stage: (target, { table, files, columns }, base) => [
      `CREATE OR REPLACE TEMPORARY TABLE ${permanent(target, table)} (${writeColumns(target, columns)})`,
      ...inLists(files, MAX_FILES.snowflake).map(
        (some) =>
          `COPY INTO ${permanent(target, table)} FROM ${base} FILES = (${some.map(({ path }) => quoteStagePath(`${table}/${path}`)).join(', ')}) FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE`,
      ),
    ],
    clean: drop,
  },
  bigquery: {
    dialect: SQL_DIALECTS.bigquery,
    hasTransactions: true,
    begin: ['BEGIN TRANSACTION'],
    commit: ['COMMIT TRANSACTION'],
    base: { pattern: bucket('gs'), example: 'gs://bucket/lake' },
    stageName: permanent,
    stage: (target, { table, files, columns }, base) => [
      `CREATE OR REPLACE TABLE ${permanent(target, table)} (${writeColumns(target, columns)})`,
      ...inLists(files, MAX_FILES.bigquery).map(
        (some) =>
          `LOAD DATA INTO ${permanent(target, table)} FROM FILES (format = 'PARQUET', enable_list_inference = true, uris = [${some.map(({ path }) => target.dialect.quoteText(`${base}/${table}/${path}`)).join(', ')}])`,
      ),
    ],
    clean: drop,
  },
  databricks: {
    dialect: SQL_DIALECTS.databricks,
    // A transaction spans only one statement over one table.
    hasTransactions: false,
    begin: [],
    commit: [],
    base: { pattern: /^(s3|gs|abfss|dbfs|\/Volumes)(:\/)?\/[\w.=+@~/-]+$/, example: 's3://bucket/lake' },
    stageName: permanent,
    // Without `force`, a file that was loaded before is skipped, even for a new table.
    stage: (target, { table, files, columns }, base) => [
      `CREATE OR REPLACE TABLE ${permanent(target, table)} (${writeColumns(target, columns)})`,
      ...inLists(files, MAX_DATABRICKS).map(
        (some) =>
          `COPY INTO ${permanent(target, table)} FROM ${target.dialect.quoteText(`${base}/${table}`)} FILEFORMAT = PARQUET FILES = (${some.map(({ path }) => target.dialect.quoteText(path)).join(', ')}) COPY_OPTIONS ('force' = 'true')`,
      ),
    ],
    clean: drop,
  },
};

/** @throws PricelakeError `usage` for an address that the warehouse can't read, or that can't be part of a statement */
export function requireWarehouseBase(warehouse: Warehouse, base: string | undefined): string {
  const { base: wanted } = WAREHOUSE_FORMS[warehouse];
  if (wanted === undefined) return '';
  const given = base?.replace(/\/+$/, '') ?? '';
  if (wanted.pattern.test(given)) return given;
  throw new PricelakeError('usage', `${warehouse} has to find the files of the lake`, {
    hint: `Give the lake's address for it, e.g. --base ${wanted.example}.`,
  });
}

/**
 * Writes the statements that bring a warehouse's copy to the newest run: missing tables, staging tables, then one
 * transaction over all tables, which records the run last. They change nothing if they are run again, or over a copy of
 * another run.
 * @param base address of the lake for the warehouse, checked
 */
export function writeLoadScript(
  warehouse: Warehouse,
  loads: readonly TableLoad[],
  { schema, base }: { schema: string | undefined; base: string },
): string[] {
  const form = WAREHOUSE_FORMS[warehouse];
  const target: LoadTarget = { ...form, schema };
  const filled = loads.filter(({ rows }) => rows.kind !== 'none');
  return [
    writeLoadsTable(target),
    ...loads.flatMap((load) => writeCreate(target, load)),
    ...filled.flatMap((load) => form.stage(target, load, base)),
    ...form.begin,
    ...loads.flatMap((load) => writeApply(target, load, form.stageName(target, load.table))),
    ...form.commit,
    ...filled.flatMap(({ table }) => form.clean(target, table)),
  ];
}
