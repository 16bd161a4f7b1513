import { type DayRange, eachDailySpread } from '../analyze/daily-spread.js';
import type { Database } from '../duckdb/connection.js';
import { isEmptyFile } from '../lake/data-file.js';
import { DAY_MS, type DailyChange, type DailyStage, formatDay } from './daily-stage.js';
import { redoDays } from './redo-days.js';

/**
 * Adds the days (UTC) that have closed since, and brings earlier ones up to date where the run learned something about
 * them (redo-days.ts). Licence texts of a day stay as they were when it closed.
 */
export async function stageDaily(daily: DailyStage): Promise<DailyChange | undefined> {
  const { table, days, now } = daily;
  if (days === 0)
    return table.files.every(isEmptyFile)
      ? undefined
      : { add: [], remove: table.files, applied: { day: 0n, firstDay: 0n } };
  const kept = table.applied.day;
  const closed = BigInt(Math.floor(now.getTime() / DAY_MS)) - 1n;
  const change: DailyChange = { add: [], remove: [], applied: {} };
  if (kept > 0n) await redoDays(daily, kept, change);
  const first = await findFirstDay(daily.db, kept, closed - BigInt(days) + 1n);
  if (first !== undefined && first <= closed) {
    await eachDailySpread(daily.db, formatRange(first, closed), async (select) => {
      change.add.push(...(await daily.stage(select)));
    });
    change.applied.day = closed;
    if (kept === 0n) change.applied.firstDay = first;
  }
  return change.add.length + change.remove.length + Object.keys(change.applied).length === 0 ? undefined : change;
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

function formatRange(first: bigint, last: bigint): DayRange {
  return { first: formatDay(first), last: formatDay(last) };
}
