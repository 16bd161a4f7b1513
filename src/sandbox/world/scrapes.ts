import { stringify } from 'lossless-json';
import { fraction, type ShopSource } from '../catalogue/shops.js';
import type { WorldSession } from './world-database.js';

const HOUR_MS = 3_600_000;
const BROKEN_FOR_HOURS = 60;

/** When a source was last read at or before `now`, by its period; in milliseconds since 1970. */
function findLastScrape(source: ShopSource, now: number): number {
  const hours = now / HOUR_MS;
  const rounds = Math.floor((hours - source.phaseHours) / source.periodHours);
  return Math.floor((source.phaseHours + rounds * source.periodHours) * 3600) * 1000;
}

/** One source's scrape within a step. */
export interface Scrape {
  modelId: bigint;
  /** Milliseconds since 1970. */
  at: number;
}

/** A scrape changes a part of its source's items at most; more changes need more sources. */
const ITEMS_PER_CHANGE = 1.5;

/**
 * The healthy sources whose turn comes within the step, then others until their listed items suffice for its changes.
 * @param listed number of listed items by source
 */
export function chooseEnough(
  sources: readonly ShopSource[],
  listed: ReadonlyMap<bigint, number>,
  step: { step: number; from: number; to: number; total: number },
): Scrape[] {
  const healthy = sources.filter((source) => source.healthy);
  const isDueNow = (source: ShopSource) => isDue(source, step.from, step.to);
  const scrapes: Scrape[] = [];
  let items = 0;
  const add = (modelId: bigint, at: number) => {
    scrapes.push({ modelId, at });
    items += listed.get(modelId) ?? 0;
  };
  for (const source of healthy.filter(isDueNow)) add(source.modelId, findLastScrape(source, step.to));
  const others = healthy
    .filter((source) => !isDueNow(source))
    .map(({ modelId }) => ({ modelId, place: fraction(step.step, modelId, 'scrape') }))
    .sort((a, b) => a.place - b.place);
  for (const { modelId, place } of others) {
    if (items >= step.total * ITEMS_PER_CHANGE) break;
    add(modelId, Math.ceil(step.from + (step.to - step.from) * (0.4 + 0.6 * place)));
  }
  return scrapes;
}

/** Whether a healthy source's turn comes after `from`, up to `to`. */
export function hasDueScrape(sources: readonly ShopSource[], from: number, to: number): boolean {
  return sources.some((source) => source.healthy && isDue(source, from, to));
}

function isDue(source: ShopSource, from: number, to: number): boolean {
  return findLastScrape(source, to) > from;
}

/** Fills the table of sources as of `now`; a broken one was last read days ago. */
export async function storeSources(session: WorldSession, sources: readonly ShopSource[], now: number): Promise<void> {
  const rows = sources.map((source) => ({
    ...source,
    micros: findLastScrape(source, source.healthy ? now : now - BROKEN_FOR_HOURS * HOUR_MS) * 1000,
  }));
  await session.run(
    `INSERT INTO sources SELECT modelId, siteId, name, healthy, periodHours, phaseHours, make_timestamp(micros) FROM (
      SELECT unnest(from_json($sources, '[{"modelId":"BIGINT","siteId":"BIGINT","name":"VARCHAR","healthy":"BOOLEAN","periodHours":"INTEGER","phaseHours":"DOUBLE","micros":"BIGINT"}]'), max_depth := 2))`,
    { sources: stringify(rows) as string },
  );
}

/** Replaces the scrapes of the step under way. */
export async function storeScrapes(session: WorldSession, scrapes: readonly Scrape[]): Promise<void> {
  await session.run('DELETE FROM scrapes');
  await session.run(
    `INSERT INTO scrapes SELECT modelId, make_timestamp(millis * 1000) FROM (
      SELECT unnest(from_json($scrapes, '[{"modelId":"BIGINT","millis":"BIGINT"}]'), max_depth := 2))`,
    { scrapes: stringify(scrapes.map(({ modelId, at }) => ({ modelId, millis: at }))) as string },
  );
}
