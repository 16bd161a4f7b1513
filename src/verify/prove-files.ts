import { stat } from 'node:fs/promises';
import { ignoreMissing } from '../io/errors.js';
import { nameColumns } from '../lake/column-difference.js';
import { hashFile } from '../lake/data-file.js';
import { listDataFiles } from '../lake/list-files.js';
import { tablePath } from '../tables/layout.js';
import type { Proof, Report, VerifyContext } from './proof.js';
import { readFooter, ZSTD } from './read-footer.js';
import type { LoggedFile, ReplayedTable } from './replayed-table.js';

export function* listFiles({ tables }: VerifyContext): Generator<{ table: ReplayedTable; file: LoggedFile }> {
  for (const table of tables.values()) for (const file of table.files.values()) yield { table, file };
}

export const fileProof: Proof = {
  name: 'files',
  claims: 'Every file in a log exists, with the size and SHA-256 in the log.',
  async prove(context, report) {
    let count = 0n;
    let otherFiles = 0;
    for (const { table, file } of listFiles(context)) {
      context.signal.throwIfAborted();
      count += 1n;
      if (file.sha256 === undefined) otherFiles += 1;
      const what = await compareBytes(tablePath(context.lake, table.table, file.path), file);
      if (what !== undefined) report({ table: table.table, file: `${table.table}/${file.path}`, what });
    }
    const notes =
      otherFiles === 0 ? [] : [`${otherFiles} files of other programs have no checksum, so they were not checked`];
    return { count, of: 'files', notes };
  },
};

async function compareBytes(path: string, file: LoggedFile): Promise<string | undefined> {
  const info = await stat(path).catch(ignoreMissing);
  if (info === undefined) return 'is missing';
  if (info.size !== file.bytes) return `has ${info.size} bytes, but the log records ${file.bytes}`;
  const found = await hashFile(path);
  return file.sha256 === undefined || found === file.sha256
    ? undefined
    : `has SHA-256 ${found}, but the log records ${file.sha256}`;
}

export const footerProof: Proof = {
  name: 'footers',
  claims:
    "The footer of every file, read by parquetjs-lite, has the log's row count, its table's columns, and zstd compression.",
  async prove(context, report) {
    let count = 0n;
    const lacking = new Map<string, number>();
    for (const { table, file } of listFiles(context)) {
      context.signal.throwIfAborted();
      count += 1n;
      const missing = await compareFooter(context, table, file, report);
      if (missing.length === 0) continue;
      const key = JSON.stringify([table.table, nameColumns(missing)]);
      lacking.set(key, (lacking.get(key) ?? 0) + 1);
    }
    const notes = [...lacking].map(([key, files]) => {
      const [name, columns] = JSON.parse(key) as [string, string];
      return files === 1
        ? `1 file of ${name} lacks ${columns}, so readers get null there`
        : `${files} files of ${name} lack ${columns}, so readers get null there`;
    });
    return { count, of: 'footers', notes };
  },
};

/** Compares a footer with the table's schema. Returns the columns that another program's file lacks. */
async function compareFooter(
  context: VerifyContext,
  table: ReplayedTable,
  file: LoggedFile,
  report: Report,
): Promise<string[]> {
  const fail = (what: string) => report({ table: table.table, file: `${table.table}/${file.path}`, what });
  const footer = await readFooter(tablePath(context.lake, table.table, file.path)).catch(() => undefined);
  if (footer === undefined) {
    fail("can't read its footer");
    return [];
  }
  const rows = String((JSON.parse(file.stats) as { numRecords?: number }).numRecords);
  const contract = table.schema.columns.map(({ name }) => name);
  const isOurs = file.sha256 !== undefined;
  // Other programs may store partition columns only in the log, and may choose other column orders and codecs.
  const due = isOurs ? contract : footer.columns;
  if (String(footer.rows) !== rows) fail(`has ${footer.rows} rows, but the log records ${rows}`);
  if (footer.rowsInGroups !== footer.rows) fail(`its row groups have ${footer.rowsInGroups} of ${footer.rows} rows`);
  if (footer.columns.join() !== due.join()) fail(`has columns ${footer.columns.join()}`);
  if (isOurs && footer.codecs.some((codec) => codec !== ZSTD))
    fail(`is compressed by codecs ${footer.codecs.join()}, not by zstd alone`);
  const known = [...footer.columns, ...Object.keys(file.partitionValues)];
  return isOurs ? [] : contract.filter((name) => !known.includes(name));
}

export const orphanProof: Proof = {
  name: 'orphans',
  claims: "A table's folder has only the data files in its log, and superseded ones only if lake.retention keeps them.",
  async prove({ lake, tables }, report) {
    let count = 0n;
    for (const { table, files, superseded, configuration } of tables.values()) {
      const keeps = configuration['pricelake.retentionHours'] !== undefined;
      for (const path of await listDataFiles(tablePath(lake, table))) {
        count += 1n;
        if (files.has(path) || (superseded.has(path) && keeps)) continue;
        const why = superseded.has(path) ? 'is superseded, but a plain glob still reads it' : 'is in no log';
        report({ table, file: `${table}/${path}`, what: `${why}; the next sync deletes it` });
      }
    }
    return { count, of: 'files on disk' };
  },
};
