import path from 'node:path';
import { type DayRange, eachDailySpread } from '../analyze/daily-spread.js';
import type { Database } from '../duckdb/connection.js';
import { quoteLiteral } from '../duckdb/quote.js';
import { type DataFile, type StagedFile, type TableState, TXN_DAY } from '../model.js';
import { selectColumns } from '../normalize/batch.js';
import { type RelationOptions, tableRelation, toRelationFile } from '../table-relation.js';

const DAY_MS = 24 * 3600 * 1000;

/** What staging the closed days needs; views show the lake as it would be, price_spread_daily as it is. */
export interface DailyStage {
  db: Database;
  /** Folder of the lake. */
  root: string;
  /** Table price_spread_daily as the run found it. */
  table: TableState;
  now: Date;
  /** How many closed days the table reaches back when it is first made; 0 for no table. */
  days: number;
  stage: (select: string) => Promise<StagedFile[]>;
}

/** The next version of price_spread_daily; undefined when it stays as it is. */
export interface DailyChange {
  add: StagedFile[];
  remove: DataFile[];
  txn: Record<string, bigint>;
}

/**
 * Adds the days (UTC) that have closed since, and makes anew those days of a product that a change of this run came
 * too late for. Anything else that becomes known of a day after it was made (another GTIN, say) leaves it as it is.
 */
export async function stageDaily(daily: DailyStage): Promise<DailyChange | undefined> {
  const { table, days, now } = daily;
  if (days === 0)
    return table.files.length === 0 ? undefined : { add: [], remove: table.files, txn: { [TXN_DAY]: 0n } };
  const kept = table.txn[TXN_DAY] ?? 0n;
  const closed = BigInt(Math.floor(now.getTime() / DAY_MS)) - 1n;
  const change: DailyChange = { add: [], remove: [], txn: {} };
  if (kept > 0n) await redoLateDays(daily, kept, change);
  const first = await findFirstDay(daily.db, kept, closed - BigInt(days) + 1n);
  if (first !== undefined && first <= closed) {
    await eachDailySpread(daily.db, formatRange(first, closed), async (select) => {
      change.add.push(...(await daily.stage(select)));
    });
    change.txn[TXN_DAY] = closed;
  }
  return change.add.length + change.remove.length + Object.keys(change.txn).length === 0 ? undefined : change;
}

/** The first day to be added: behind those kept, or as far as history and `daily` reach. */
async function findFirstDay(db: Database, kept: bigint, limit: bigint): Promise<bigint | undefined> {
  if (kept > 0n) return kept + 1n > limit ? kept + 1n : limit;
  const row = await db.row(`SELECT epoch(least(
      (SELECT min(observed_date) FROM history),
      (SELECT min(timezone('UTC', started_at)::DATE) FROM runs)
    ))::BIGINT // 86400 AS day`);
  const reach = row?.day as bigint | null | undefined;
  if (reach === null || reach === undefined) return undefined;
  return reach > limit ? reach : limit;
}

/** Rows of products that a change of this run came late for, from its day on. */
async function redoLateDays(daily: DailyStage, kept: bigint, change: DailyChange): Promise<void> {
  const { db } = daily;
  const lastDay = formatDay(kept);
  await db.run(
    `CREATE OR REPLACE TEMP TABLE late_products AS
     SELECT product_id, min(observed_date) AS from_day FROM history JOIN items USING (item_id)
     WHERE history.run_id = getvariable('run_id') AND observed_date <= CAST($1 AS DATE) AND product_id IS NOT NULL
     GROUP BY product_id`,
    [lastDay],
  );
  const late = await db.row("SELECT strftime(min(from_day), '%Y-%m-%d') AS first FROM late_products");
  if (late?.first === null || late?.first === undefined) return;
  const isLate = `day >= CAST(${quoteLiteral(String(late.first))} AS DATE)
    AND product_id IN (SELECT product_id FROM late_products)`;
  change.remove = await findFiles(daily, isLate);
  await db.run('ALTER VIEW items RENAME TO all_items');
  await db.run('CREATE TEMP VIEW items AS SELECT * FROM all_items SEMI JOIN late_products USING (product_id)');
  try {
    const columns = selectColumns('price_spread_daily');
    const others = `SELECT ${columns} FROM ${readFiles(daily, change.remove)} WHERE NOT (${isLate})`;
    let rest = change.remove.length === 0 ? '' : `${others} UNION ALL `;
    await eachDailySpread(db, { first: String(late.first), last: lastDay }, async (select) => {
      change.add.push(...(await daily.stage(`${rest}SELECT ${columns} FROM (${select}\n)`)));
      rest = '';
    });
    if (rest !== '') change.add.push(...(await daily.stage(others)));
  } finally {
    await db.run('DROP VIEW items');
    await db.run('ALTER VIEW all_items RENAME TO items');
  }
}

async function findFiles(daily: DailyStage, condition: string): Promise<DataFile[]> {
  if (daily.table.files.length === 0) return [];
  const relation = readFiles(daily, daily.table.files, { more: 'filename = true' });
  const rows = await daily.db.rows(`SELECT DISTINCT filename FROM ${relation} WHERE ${condition}`);
  const names = new Set(rows.map(({ filename }) => filename));
  return daily.table.files.filter((file) => names.has(absolutePath(daily, file)));
}

function readFiles(daily: DailyStage, files: DataFile[], options?: RelationOptions): string {
  return tableRelation(
    'price_spread_daily',
    files.map((file) => toRelationFile(file, absolutePath(daily, file))),
    options,
  );
}

function absolutePath({ root }: DailyStage, file: DataFile): string {
  return path.join(root, 'price_spread_daily', file.path);
}

/** A number of days since 1970 as `2026-11-20`. */
function formatDay(day: bigint): string {
  return new Date(Number(day) * DAY_MS).toISOString().slice(0, 10);
}

function formatRange(first: bigint, last: bigint): DayRange {
  return { first: formatDay(first), last: formatDay(last) };
}
