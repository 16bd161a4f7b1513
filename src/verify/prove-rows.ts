import { createHash } from 'node:crypto';
import { tablePath } from '../tables/layout.js';
import type { Column } from '../tables/schemas.js';
import { addValues, type ColumnFacts, compareStats, formatValue, parseStats } from './compare-stats.js';
import { type ExactFile, openExactFile } from './exact-parquet.js';
import { type Proof, type Report, readApplied, type VerifyContext } from './proof.js';
import { listFiles } from './prove-files.js';
import type { LoggedFile, ReplayedTable } from './replayed-table.js';

interface Reading {
  table: ReplayedTable;
  file: LoggedFile;
  reader: ExactFile;
  groups: number[];
}

/**
 * Reads one column of one row group at a time, so that memory use doesn't depend on the size of the file. The newest
 * run's number seeds the choice of a sample, so that verifications after different runs check different row groups.
 */
export const rowProof: Proof = {
  name: 'rows',
  claims: 'The values of every file, read by hyparquet, match its statistics and its partition in the log.',
  async prove(context, report) {
    const readings = await planReadings(context, report);
    let rows = 0n;
    const totalRows = readings.reduce((sum, { reader, groups }) => sum + countRows(reader, groups), 0n);
    for (const reading of readings) {
      await proveFile(context, reading, report);
      rows += countRows(reading.reader, reading.groups);
      context.io.progress({ step: 'verify', rows, totalRows, bytes: 0, done: rows === totalRows });
    }
    return { count: rows, of: 'rows' };
  },
};

const countRows = (reader: ExactFile, groups: number[]) =>
  groups.reduce((sum, group) => sum + BigInt(reader.groups[group] ?? 0), 0n);

async function planReadings(context: VerifyContext, report: Report): Promise<Reading[]> {
  const readings: Reading[] = [];
  for (const { table, file } of listFiles(context)) {
    try {
      const reader = await openExactFile(tablePath(context.lake, table.table, file.path));
      readings.push({ table, file, reader, groups: reader.groups.map((_, group) => group) });
    } catch (error) {
      report({ table: table.table, file: `${table.table}/${file.path}`, what: explain(error) });
    }
  }
  return context.sample === undefined ? readings : takeSample(readings, context);
}

/** Chooses row groups at random. The seed is the number of the newest run. */
function takeSample(readings: Reading[], { sample = 0, tables }: VerifyContext): Reading[] {
  const seed = String(readApplied(tables.get('runs')).run ?? 0n);
  const all = readings.flatMap((reading) => reading.groups.map((group) => ({ reading, group })));
  const rank = ({ reading, group }: (typeof all)[number]) =>
    createHash('sha256').update(`${seed} ${reading.table.table}/${reading.file.path} ${group}`).digest('hex');
  const ranked = all.map((one) => ({ ...one, rank: rank(one) })).sort((a, b) => (a.rank < b.rank ? -1 : 1));
  const taken = ranked.slice(0, sample);
  return readings
    .map((reading) => ({
      ...reading,
      groups: taken.filter((one) => one.reading === reading).map(({ group }) => group),
    }))
    .filter(({ groups }) => groups.length > 0);
}

async function proveFile(
  context: VerifyContext,
  { table, file, reader, groups }: Reading,
  report: Report,
): Promise<void> {
  const fail = (what: string) => report({ table: table.table, file: `${table.table}/${file.path}`, what });
  try {
    const stats = parseStats(file.stats);
    for (const column of table.schema.columns) {
      if (!reader.columns.has(column.name)) continue; // the file is older than the column, and `footers` reports it
      let facts: ColumnFacts | undefined;
      for (const group of groups) {
        context.signal.throwIfAborted();
        facts = addValues(column, facts, await reader.readColumn(group, column.name));
      }
      if (facts === undefined) continue;
      const whole = groups.length === reader.groups.length;
      // Skips the statistics of other programs, because they may round bounds, for example decimals to doubles.
      const isOurs = file.sha256 !== undefined;
      for (const fault of isOurs ? compareStats(column, stats, facts, whole) : []) fail(fault);
      const value = file.partitionValues[column.name];
      if (value !== undefined) comparePartition(column, facts, value, fail);
    }
  } catch (error) {
    context.signal.throwIfAborted();
    fail(explain(error));
  }
}

/** Checks that all rows have the partition value that the log records for the file. */
function comparePartition(
  column: Column,
  facts: ColumnFacts,
  value: string | null,
  fail: (what: string) => void,
): void {
  const only = facts.nulls === facts.rows ? null : formatValue(column, facts.min);
  const mixed = facts.nulls > 0 && facts.nulls < facts.rows;
  if (mixed || only !== value || formatValue(column, facts.max) !== value) {
    fail(`${column.name} is not ${value} in all rows, unlike in the log`);
  }
}

const explain = (error: unknown) => `can't be read: ${error instanceof Error ? error.message : String(error)}`;
