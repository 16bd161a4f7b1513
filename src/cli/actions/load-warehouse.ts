import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findTables, planLoad, type TableLoad } from '../../deliver/load-plan.js';
import type { LoadedTable } from '../../deliver/load-postgres.js';
import { requireSchemaName } from '../../deliver/load-sql.js';
import { listFiles } from '../../deliver/manifest.js';
import { writeForLoader } from '../../deliver/manifest-formats.js';
import { parseSince } from '../../deliver/since.js';
import { requireWarehouseBase, writeLoadScript } from '../../deliver/warehouses.js';
import { countOf } from '../../formats/count.js';
import { hasSystemCode, PricelakeError } from '../../io/errors.js';
import { explainOutputFault, replaceOutput } from '../../io/output-file.js';
import { makeTemporaryFolder } from '../../io/temporary-folder.js';
import { explainFileFault } from '../../lake/file-fault.js';
import { openLake } from '../../lake/lake.js';
import { Database } from '../../sql/connection.js';
import type { Lake } from '../../tables/layout.js';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import type { Arguments, CommandContext } from '../command.js';
import type { deliverLoad } from '../commands/deliver.js';
import { findTarget } from '../find-target.js';
import { writeText } from '../output/output.js';

/**
 * Writes the SQL statements that update a warehouse's copy of the lake to the newest run. With `--execute`, connects to
 * PostgreSQL and updates the copy there.
 * @throws PricelakeError `usage` if the lake's history doesn't reach back to the run that the copy contains
 * @throws PricelakeError `unavailable` if the database can't be reached
 */
export async function loadWarehouse(request: Arguments<typeof deliverLoad>, context: CommandContext) {
  requireSchemaName(request.schema);
  const { lake: path } = await findTarget(request);
  const lake = await openLake(path, { create: false });
  const wanted = TABLE_NAMES.filter((table) => request.table?.includes(table) ?? true);
  const tables = await findTables(lake, wanted);
  return request.execute === true
    ? execute(request, lake, tables, context)
    : writeScript(request, lake, tables, context);
}

async function writeScript(
  request: Arguments<typeof deliverLoad>,
  lake: Lake,
  tables: TableName[],
  context: CommandContext,
) {
  const { warehouse, schema, output: file } = request;
  const base = requireWarehouseBase(warehouse, request.base);
  const since = readRun(request);
  const loads = await Promise.all(tables.map((table) => planLoad(lake, table, since)));
  if (warehouse === 'redshift') await writeManifests(request.manifests, lake, loads, base);
  const script = `${writeLoadScript(warehouse, loads, { schema, base }).join(';\n')};\n`;
  return {
    warehouse,
    ...(await writeText(script, file, context)),
    since: since ?? null,
    run: loads[0]?.run,
    tables: loads.map(({ table, rows, files }) => ({ table, rows: rows.kind, files: files.length })),
  };
}

/**
 * For Redshift's COPY statement, writes a manifest that lists the files of each load. A load without files gets no
 * manifest, because COPY would reject it.
 */
async function writeManifests(folder: string | undefined, lake: Lake, loads: TableLoad[], base: string): Promise<void> {
  if (folder === undefined) {
    throw new PricelakeError('usage', 'loading Redshift requires --manifests, a folder to write manifests to', {
      hint: `Pass --manifests FOLDER, and copy that folder to ${base}/_manifests before you run the statements.`,
    });
  }
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw explainOutputFault(folder, error);
  });
  for (const { table, files } of loads.filter((load) => load.files.length > 0)) {
    const manifest = { table, files: await listFiles(lake, table, files, base) };
    const text = writeForLoader(manifest, 'redshift');
    await replaceOutput(join(folder, `${table}.manifest`), (path) => writeFile(path, text));
  }
}

function readRun({ since, full }: Arguments<typeof deliverLoad>): bigint | undefined {
  if (full === true) return undefined;
  const run = since === undefined ? undefined : parseSince(since);
  if (run?.kind === 'run') return run.number;
  throw new PricelakeError('usage', "pass the copy's current run as --since, or load everything with --full", {
    hint: "SELECT * FROM pricelake_loads shows the copy's current run.",
  });
}

async function execute(
  request: Arguments<typeof deliverLoad>,
  lake: Lake,
  tables: TableName[],
  context: CommandContext,
) {
  const { warehouse, schema, full, since, url } = request;
  const isOther = warehouse !== 'postgres';
  if (isOther || since !== undefined || request.output !== undefined) {
    const no = isOther
      ? `${warehouse}, because it only loads PostgreSQL`
      : '--since or --output, because the copy records its own run';
    throw new PricelakeError('usage', `--execute doesn't work with ${no}`);
  }
  const { loadPostgres } = await import('../../deliver/load-postgres.js');
  const client = await connect(url);
  const folder = await makeTemporaryFolder();
  const db = await Database.open({ tempDirectory: folder, signal: context.signal });
  // If a signal stops the command, this closes the connection, so that the server rolls back the transaction.
  const stop = () => void client.end().catch(() => {});
  context.signal.addEventListener('abort', stop, { once: true });
  try {
    const place = { db, lake, scratch: join(folder, 'rows'), signal: context.signal };
    const loaded = await loadPostgres(client, { ...place, tables, schema, isFull: full === true }).catch(
      explainPostgres,
    );
    await context.say(loaded.map(formatTable).join(''));
    return { warehouse, run: loaded[0]?.run, tables: loaded };
  } finally {
    context.signal.removeEventListener('abort', stop);
    await client.end().catch(() => {});
    await db.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Connects to PostgreSQL. Rejects a password in `url`, because every process on the machine can read command lines. */
async function connect(url: string | undefined) {
  const hasPassword =
    url !== undefined && (!URL.canParse(url) || new URL(url).password !== '' || /[?&]password=/.test(url));
  if (hasPassword) {
    throw new PricelakeError(
      'usage',
      '--url must look like postgres://user@host/database and must not contain a password',
      {
        hint: 'Put the password in PGPASSWORD or ~/.pgpass.',
      },
    );
  }
  const { default: pg } = await import('pg').catch((cause: unknown) => {
    const hint = 'Run `npm install pg pg-copy-streams`.';
    throw new PricelakeError('usage', 'the pg package is not installed', { hint }, { cause });
  });
  const client = new pg.Client({ connectionString: url, application_name: 'pricelake' });
  // Error events are ignored, because the statement that was running when the connection dropped reports the error too.
  client.on('error', () => {});
  await client.connect().catch(explainPostgres);
  return client;
}

/**
 * Converts an error of PostgreSQL and throws it. Its code is `unavailable` if a later load may succeed, as for the
 * SQLSTATE classes 08, 53, 57 and 40.
 */
function explainPostgres(thrown: unknown): never {
  const cause = explainFileFault(thrown);
  if (cause instanceof PricelakeError || !(cause instanceof Error)) throw cause;
  const { code = '' } = cause as { code?: string };
  const isPassing =
    /^(08|53|57|40)/.test(code) || hasSystemCode(cause, 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'ENOTFOUND');
  const isTheirs = /^[0-9A-Z]{5}$/.test(code);
  if (!isPassing && !isTheirs && !/^Connection terminated/.test(cause.message)) throw cause;
  const kind = isPassing || !isTheirs ? 'unavailable' : 'usage';
  throw new PricelakeError(kind, `PostgreSQL: ${cause.message}`, code === '' ? {} : { sqlState: code }, { cause });
}

function formatTable({ table, since, run, rows }: LoadedTable): string {
  return `${table}: ${countOf(rows, 'row')}, ${since === null ? 'everything' : `run ${since}`} to run ${run}\n`;
}
