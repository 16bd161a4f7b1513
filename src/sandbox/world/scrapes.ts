import { stringify } from 'lossless-json';
import { fraction, type ScrapedSource } from '../catalog/shops.js';
import type { WorldSession } from './world-database.js';

const HOUR_MS = 3_600_000;
const BROKEN_FOR_HOURS = 60;

/** Returns the time of a source's last scheduled scrape up to `now`. Both times are in milliseconds since 1970. */
function findLastScrape(source: ScrapedSource, now: number): number {
  const hours = now / HOUR_MS;
  const rounds = Math.floor((hours - source.phaseHours) / source.periodHours);
  return Math.floor((source.phaseHours + rounds * source.periodHours) * 3600) * 1000;
}

export interface Scrape {
  modelId: bigint;
  /** The time of the scrape, in milliseconds since 1970. */
  at: number;
}

/**
 * The number of listed items that scraped sources need per change. A scrape changes only some of its items.
 */
const ITEMS_PER_CHANGE = 1.5;

/**
 * Chooses the healthy sources that are due in the step, then further sources until there are enough items for its
 * changes.
 * @param listed number of listed items by source
 */
export function chooseEnough(
  sources: readonly ScrapedSource[],
  listed: ReadonlyMap<bigint, number>,
  step: { step: number; from: number; to: number; total: number },
): Scrape[] {
  const healthy = sources.filter((source) => source.healthy);
  const isDueNow = (source: ScrapedSource) => isDue(source, step.from, step.to);
  const scrapes: Scrape[] = [];
  let items = 0;
  const add = (modelId: bigint, at: number) => {
    scrapes.push({ modelId, at });
    items += listed.get(modelId) ?? 0;
  };
  for (const source of healthy.filter(isDueNow)) add(source.modelId, findLastScrape(source, step.to));
  const restingSources = healthy
    .filter((source) => !isDueNow(source))
    .map(({ modelId }) => ({ modelId, place: fraction(step.step, modelId, 'scrape') }))
    .sort((a, b) => a.place - b.place);
  for (const { modelId, place } of restingSources) {
    if (items >= step.total * ITEMS_PER_CHANGE) break;
    add(modelId, Math.ceil(step.from + (step.to - step.from) * (0.4 + 0.6 * place)));
  }
  return scrapes;
}

/** True if any healthy source is due after `from`, up to `to`. */
export function hasDueScrape(sources: readonly ScrapedSource[], from: number, to: number): boolean {
  return sources.some((source) => source.healthy && isDue(source, from, to));
}

function isDue(source: ScrapedSource, from: number, to: number): boolean {
  return findLastScrape(source, to) > from;
}

/** Stores the sources. Broken sources were last scraped days ago. */
export async function storeSources(
  session: WorldSession,
  sources: readonly ScrapedSource[],
  now: number,
): Promise<void> {
  const rows = sources.map((source) => ({
    ...source,
    millis: findLastScrape(source, source.healthy ? now : now - BROKEN_FOR_HOURS * HOUR_MS),
  }));
  await session.run(
    `INSERT INTO sources SELECT modelId, healthy, make_timestamp(millis * 1000) FROM (
      SELECT unnest(from_json($sources, '[{"modelId":"BIGINT","healthy":"BOOLEAN","millis":"BIGINT"}]'), max_depth := 2))`,
    { sources: stringify(rows) as string },
  );
}

/** Stores the scrapes of a step, and deletes those of the previous step. */
export async function storeScrapes(session: WorldSession, scrapes: readonly Scrape[]): Promise<void> {
  await session.run('DELETE FROM scrapes');
  await session.run(
    `INSERT INTO scrapes SELECT modelId, make_timestamp(millis * 1000) FROM (
      SELECT unnest(from_json($scrapes, '[{"modelId":"BIGINT","millis":"BIGINT"}]'), max_depth := 2))`,
    { scrapes: stringify(scrapes.map(({ modelId, at }) => ({ modelId, millis: at }))) as string },
  );
}
