import { writeType } from '../contracts/sql.js';
import { SQL_DIALECTS } from '../contracts/sql-dialects.js';
import { PricelakeError } from '../errors/errors.js';
import type { Column } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';
import type { TableLoad } from './load-plan.js';
import { type LoadTarget, nameTable } from './load-sql.js';
import { inLists, MAX_FILES, quoteStagePath } from './manifest-formats.js';
import type { Warehouse } from './warehouse-names.js';

/** How a warehouse gets the files of a table into a staging table, and what its transactions are. */
export interface WarehouseForm extends Omit<LoadTarget, 'schema'> {
  begin: string[];
  commit: string[];
  /** What `--base` must look like, with an example of it; undefined where none is needed. */
  base: { pattern: RegExp; example: string } | undefined;
  /** The staging table as SQL. */
  stageName: (target: LoadTarget, table: TableName) => string;
  /** Statements that fill it, before the transaction. */
  stage: (target: LoadTarget, load: TableLoad, base: string) => string[];
  /** Statements after the transaction. */
  clean: (target: LoadTarget, table: TableName) => string[];
}

/** Addresses are pasted into statements: no quotes, no white space. */
const bucket = (scheme: string) => new RegExp(`^${scheme}://[\\w.-]+(/[\\w.=+@~/-]*)?$`);

const temporary = (target: LoadTarget, table: TableName) => target.dialect.quote(`pricelake_stage_${table}`);
const permanent = (target: LoadTarget, table: TableName) => nameTable(target, `pricelake_stage_${table}`);
const drop = (target: LoadTarget, table: TableName) => [`DROP TABLE IF EXISTS ${permanent(target, table)}`];

/** Without NOT NULL: columns of the files may be null, and BigQuery loads none of these into a required one. */
const writeColumns = ({ dialect }: LoadTarget, columns: readonly Column[]) =>
  columns.map((column) => `${dialect.quote(column.name)} ${writeType(column, dialect)}`).join(', ');

/** Files that one COPY of Databricks takes by name. */
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
    // A transaction spans one table and one statement.
    hasTransactions: false,
    begin: [],
    commit: [],
    base: { pattern: /^(s3|gs|abfss|dbfs|\/Volumes)(:\/)?\/[\w.=+@~/-]+$/, example: 's3://bucket/lake' },
    stageName: permanent,
    // A file that was loaded once would be skipped, also by a table that is made again.
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

/** @throws PricelakeError `usage` for an address that the warehouse can't read or that can't be part of a statement */
export function requireWarehouseBase(warehouse: Warehouse, base: string | undefined): string {
  const { base: wanted } = WAREHOUSE_FORMS[warehouse];
  if (wanted === undefined) return '';
  const given = base?.replace(/\/+$/, '') ?? '';
  if (wanted.pattern.test(given)) return given;
  throw new PricelakeError('usage', `${warehouse} has to find the files of the lake`, {
    hint: `Give the lake's address for it, e.g. --base ${wanted.example}.`,
  });
}
