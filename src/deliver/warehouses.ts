import { PricelakeError } from '../io/errors.js';
import type { TableName } from '../tables/table.js';
import type { TableLoad } from './load-plan.js';
import { type LoadTarget, nameTable, writeApply, writeCreate, writeLoadsTable } from './load-sql.js';
import { inLists, MAX_FILES } from './manifest-formats.js';
import type { Warehouse } from './names.js';
import { SQL_DIALECTS, type SqlDialect, writeType } from './sql-dialects.js';

interface WarehouseForm {
  dialect: SqlDialect;
  /**
   * The statements that begin and commit a transaction; undefined if a transaction can't contain more than one
   * statement on one table.
   */
  transaction: readonly [begin: string, commit: string] | undefined;
  /** A pattern and an example for `--base`; undefined if the warehouse doesn't need an address. */
  base?: { pattern: RegExp; example: string };
  /** The statements for a staging table; undefined if the caller itself fills a temporary table. */
  staging?: {
    create: string;
    /** False for a temporary table, which doesn't belong to a schema. */
    isInSchema: boolean;
    /** The maximum number of files in one statement. */
    mostFiles: number;
    /** Returns a statement that copies files into the staging table. */
    copy: (stage: string, place: { base: string; table: TableName }, paths: readonly string[]) => string;
  };
}

/** The pattern excludes quotes and white space, because addresses become part of statements. */
const bucket = (scheme: string) => new RegExp(`^${scheme}://[\\w.-]+(/[\\w.=+@~/-]*)?$`);

const { postgres, redshift, snowflake, bigquery, databricks } = SQL_DIALECTS;

export const WAREHOUSE_FORMS: Record<Warehouse, WarehouseForm> = {
  postgres: { dialect: postgres, transaction: ['BEGIN', 'COMMIT'] },
  redshift: {
    dialect: redshift,
    transaction: ['BEGIN', 'COMMIT'],
    base: { pattern: bucket('s3'), example: 's3://bucket/lake' },
    // The manifest includes file sizes, which COPY requires for Parquet. COPY rejects an empty manifest. COPY matches
    // columns by position. The columns of an old copy may have another order, but those of the staging table match the
    // files.
    staging: {
      create: 'CREATE TEMP TABLE',
      isInSchema: false,
      mostFiles: Number.MAX_SAFE_INTEGER,
      copy: (stage, { base, table }) =>
        `COPY ${stage} FROM '${base}/_manifests/${table}.manifest' IAM_ROLE default FORMAT AS PARQUET MANIFEST SERIALIZETOJSON`,
    },
  },
  snowflake: {
    dialect: snowflake,
    transaction: ['BEGIN', 'COMMIT'],
    base: { pattern: /^@[\w.$~%/-]+$/, example: '@lake_stage' },
    staging: {
      create: 'CREATE OR REPLACE TEMPORARY TABLE',
      isInSchema: true,
      mostFiles: MAX_FILES.snowflake,
      copy: (stage, { base, table }, paths) =>
        `COPY INTO ${stage} FROM ${base} FILES = (${paths.map((path) => snowflake.quoteText(`${table}/${path}`)).join(', ')}) FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE) MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE`,
    },
  },
  bigquery: {
    dialect: bigquery,
    transaction: ['BEGIN TRANSACTION', 'COMMIT TRANSACTION'],
    base: { pattern: bucket('gs'), example: 'gs://bucket/lake' },
    staging: {
      create: 'CREATE OR REPLACE TABLE',
      isInSchema: true,
      mostFiles: MAX_FILES.bigquery,
      copy: (stage, { base, table }, paths) =>
        `LOAD DATA INTO ${stage} FROM FILES (format = 'PARQUET', enable_list_inference = true, uris = [${paths.map((path) => bigquery.quoteText(`${base}/${table}/${path}`)).join(', ')}])`,
    },
  },
  databricks: {
    dialect: databricks,
    transaction: undefined,
    base: { pattern: /^(s3|gs|abfss|dbfs|\/Volumes)(:\/)?\/[\w.=+@~/-]+$/, example: 's3://bucket/lake' },
    // Without `force`, Databricks skips files that were loaded before, even if the target is a new table.
    staging: {
      create: 'CREATE OR REPLACE TABLE',
      isInSchema: true,
      mostFiles: 1000,
      copy: (stage, { base, table }, paths) =>
        `COPY INTO ${stage} FROM ${databricks.quoteText(`${base}/${table}`)} FILEFORMAT = PARQUET FILES = (${paths.map(databricks.quoteText).join(', ')}) COPY_OPTIONS ('force' = 'true')`,
    },
  },
};

/**
 * Checks the base address.
 * @throws PricelakeError `usage` if the warehouse can't read it, or if it isn't safe in SQL
 */
export function requireWarehouseBase(warehouse: Warehouse, base: string | undefined): string {
  const { base: wanted } = WAREHOUSE_FORMS[warehouse];
  if (wanted === undefined) return '';
  const given = base?.replace(/\/+$/, '') ?? '';
  if (wanted.pattern.test(given)) return given;
  throw new PricelakeError('usage', `${warehouse} needs the address of the lake's files`, {
    hint: `Pass the address as the warehouse sees it, such as --base ${wanted.example}.`,
  });
}

/**
 * Returns the statements that update a warehouse's copy to the newest run. They create missing tables, fill staging
 * tables, apply the changes and finally record the run. If the warehouse supports it, the changes to all tables are one
 * transaction. The copy doesn't change if the script runs twice, or if the copy isn't at the run that the script
 * expects.
 * @param base the validated address at which the warehouse reaches the lake
 */
export function writeLoadScript(
  warehouse: Warehouse,
  loads: readonly TableLoad[],
  { schema, base }: { schema: string | undefined; base: string },
): string[] {
  const { staging, transaction } = WAREHOUSE_FORMS[warehouse];
  const target = nameTarget(warehouse, schema);
  const filled = loads.filter(({ rows }) => rows.kind !== 'none');
  const [begin = [], commit = []] = transaction?.map((statement) => [statement]) ?? [];
  return [
    writeLoadsTable(target),
    ...loads.flatMap((load) => writeCreate(target, load)),
    ...filled.flatMap((load) => fillStage(warehouse, target, load, base)),
    ...begin,
    ...loads.flatMap((load) => writeApply(target, load, nameStage(warehouse, target, load.table))),
    ...commit,
    ...(staging === undefined ? [] : filled).map(
      ({ table }) => `DROP TABLE IF EXISTS ${nameStage(warehouse, target, table)}`,
    ),
  ];
}

export function nameTarget(warehouse: Warehouse, schema: string | undefined): LoadTarget {
  const { dialect, transaction } = WAREHOUSE_FORMS[warehouse];
  return { dialect, schema, hasTransactions: transaction !== undefined };
}

/** Returns the SQL name of a staging table. */
export function nameStage(warehouse: Warehouse, target: LoadTarget, table: TableName): string {
  const isInSchema = WAREHOUSE_FORMS[warehouse].staging?.isInSchema === true;
  return nameTable(isInSchema ? target : { ...target, schema: undefined }, `pricelake_stage_${table}`);
}

/** Returns statements that fill the staging table. They run before the transaction. */
function fillStage(warehouse: Warehouse, target: LoadTarget, { table, columns, files }: TableLoad, base: string) {
  const { staging } = WAREHOUSE_FORMS[warehouse];
  if (staging === undefined) return [];
  const stage = nameStage(warehouse, target, table);
  const { dialect } = target;
  // NOT NULL is left out, because columns of the files are nullable, and BigQuery rejects loading them into required
  // columns.
  const list = columns.map((column) => `${dialect.quote(column.name)} ${writeType(column, dialect)}`).join(', ');
  const lists = inLists(files, staging.mostFiles).map((some) => some.map(({ path }) => path));
  return [`${staging.create} ${stage} (${list})`, ...lists.map((paths) => staging.copy(stage, { base, table }, paths))];
}
