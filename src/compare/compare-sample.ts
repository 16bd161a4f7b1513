import { boundMismatchRate } from '../check/mismatch-bound.js';
import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import { type LandedSample, landSample, skipSample } from '../extract/sample.js';
import { settleAll } from '../io/settle-all.js';
import { createItemViews } from '../merge/batch.js';
import type { Extract } from '../run/landed-run.js';
import type { Run } from '../run/open-run.js';

/** A sample of items of the lake as it would be, compared with the service. */
export interface SampleComparison {
  /** Items that could be judged: one that changed after the feed was read is not. */
  sampled: bigint;
  mismatches: bigint;
  /** Upper bound of the rate of mismatches in the lake, 95 % confidence. */
  bound: number;
  /** JSON text of an array: item_id and the names of the values that differ. */
  differences: string;
}

export const NO_SAMPLE: SampleComparison = { sampled: 0n, mismatches: 0n, bound: 1, differences: '[]' };

/** What a sample is taken and judged with. */
export type SampleRun = Pick<Run, 'db' | 'landing' | 'client' | 'typing' | 'io'>;

/**
 * Chooses a run's seeded sample of items (view `items`), and returns the function that reads it from the service; that
 * needs no database. Its calls are counted like all others. Without a call left, or an answer, nothing is sampled.
 */
export async function chooseRunSample(
  { db, client, landing, io }: Run,
  { plan }: Extract,
): Promise<() => Promise<LandedSample | undefined>> {
  const size = plan.comparisons.sample;
  if (size === 0) return async () => undefined;
  const ids = await chooseSample(db, size);
  return () => landSample(client, landing, ids, io).catch((error: unknown) => skipSample(error, io));
}

/** Compares a run's sample with the lake, value by value. */
export async function compareSample(run: Run, sample: LandedSample | undefined): Promise<SampleComparison> {
  if (sample === undefined) return NO_SAMPLE;
  const lowWatermark = run.landing.journal.state.watermark?.changedAt ?? null;
  const comparison = await compareLanded(run, sample, lowWatermark).catch((error: unknown) =>
    skipSample(error, run.io),
  );
  if (comparison === undefined) return NO_SAMPLE;
  run.io.log(comparison.mismatches > 0n ? 'warn' : 'debug', 'sample.compared', { ...comparison });
  return comparison;
}

/** Reads and judges a sample; `lowWatermark` is up to when the lake is known to be complete where it has no feed. */
export async function sampleItems(
  base: SampleRun,
  size: number,
  lowWatermark: string | null,
): Promise<SampleComparison> {
  const { db, client, landing, io } = base;
  return compareLanded(base, await landSample(client, landing, await chooseSample(db, size), io), lowWatermark);
}

async function compareLanded(
  base: SampleRun,
  sample: LandedSample,
  lowWatermark: string | null,
): Promise<SampleComparison> {
  await loadSample(base, sample);
  // Not the lake but the sample is read again for each comparison. A session of its own: in that of a run, tables are
  // derived meanwhile.
  const session = await base.db.fork();
  try {
    return await session.substitute('items', 'SELECT * FROM sampled_items', () => judgeSample(session, lowWatermark));
  } finally {
    await session.close();
  }
}

/** Another sample in each run, the same in each of its tries: table `sampled_items`. */
async function chooseSample(db: Database, size: number): Promise<bigint[]> {
  await db.define(
    'table',
    'sampled_items',
    `SELECT * FROM items WHERE gone_at IS NULL
    ORDER BY hash(item_id, CAST(getvariable('run_id') AS VARCHAR)) LIMIT ${BigInt(size)}`,
  );
  const rows = await db.rows('SELECT item_id FROM sampled_items');
  return rows.map((row) => row.item_id as bigint);
}

async function loadSample({ db, typing }: SampleRun, { files, missing }: LandedSample): Promise<void> {
  const typed = await settleAll(files.map((file) => typing.typeApart({ ...file, origin: 'page' })));
  await createItemViews(db, typed);
  await db.run('CREATE OR REPLACE TABLE missing_sample (item_id BIGINT)');
  for (const id of missing) await db.run('INSERT INTO missing_sample VALUES ($1)', [id]);
}

async function judgeSample(db: Database, lowWatermark: string | null): Promise<SampleComparison> {
  await db.run('SET VARIABLE sample_watermark = $1', [lowWatermark]);
  await db.run(`CREATE OR REPLACE VIEW compared_items AS ${readModel('compare')}`);
  await db.run(`CREATE OR REPLACE TABLE judged_sample AS ${readModel('judged_sample')}`);
  const row = await db.row(`SELECT count(*) AS sampled, count(*) FILTER (len(differences) > 0) AS mismatches,
      coalesce(CAST(to_json(list({'item_id': item_id, 'differences': differences}) FILTER (len(differences) > 0)) AS VARCHAR), '[]')
        AS differences
    FROM judged_sample`);
  const sampled = row?.sampled as bigint;
  const mismatches = row?.mismatches as bigint;
  const bound = boundMismatchRate(Number(mismatches), Number(sampled));
  return { sampled, mismatches, bound, differences: String(row?.differences) };
}
