import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipelineSchema } from '../../src/config/pipeline-schema.js';
import { realIo } from '../../src/io/real-io.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { syncWithWings } from '../../src/wings/index.js';
import { runHere } from './pricelake.js';

/** Days of November and prices from then on; null: not listed. */
export type Past = [day: number, price: number | null][];

export interface PastListing {
  itemId: number;
  gtin: string;
  siteId: number;
  shop: string;
  currency: string;
  attribution: string | null;
  url: string | null;
  past: Past;
  /** False if the feed has lost the beginning, so that the first price is older than the first known change. */
  isBegun: boolean;
}

export interface WatchWorld {
  folder: string;
  lake: string;
  /** Writes a price list; returns its path. */
  list(name: string, lines: string[]): Promise<string>;
  watch(file: string, ...args: string[]): ReturnType<typeof runHere>;
  close(): Promise<void>;
}

export const at = (day: number) => `2026-11-${String(day).padStart(2, '0')}T10:00:00Z`;

export interface TestChange {
  id: number;
  kind: string;
  observedAt: string;
  price: number | null;
  previousPrice: number | null;
  changes: Record<string, unknown>;
  item: { id: number };
}

/** The items and changes of listings, as the service would give them on `today`. */
export function recordListings(listings: readonly PastListing[], today: number) {
  const items: object[] = [];
  const changes: Omit<TestChange, 'id'>[] = [];
  for (const { itemId, gtin, siteId, shop, currency, attribution, url, past, isBegun } of listings) {
    const site = { id: siteId, name: shop, host: `shop${siteId}.example`, attribution };
    const item = { id: itemId, title: `Item ${gtin}`, url, currency, site };
    let [price, priceChangedAt, previousPrice]: [number | null, string | null, number | null] = [null, null, null];
    for (const [n, [day, next]] of past.entries()) {
      const isBack = n > 0 && past[n - 1]?.[1] === null;
      const kind = n === 0 ? 'NEW' : next === null ? 'REMOVED' : isBack ? 'RELISTED' : 'CHANGED';
      const moved = kind === 'CHANGED' ? price : null;
      if (moved !== null) [priceChangedAt, previousPrice] = [at(day), moved];
      const told = moved === null ? {} : { price: [moved, next] };
      price = next ?? price;
      if (n === 0 && !isBegun) continue;
      changes.push({ kind, observedAt: at(day), price, previousPrice: moved, changes: told, item });
    }
    const [lastDay, last] = past.at(-1) as Past[number];
    items.push({
      ...item,
      ...{ brand: null, mpn: null, gtin, price, previousPrice, priceChangedAt, image: null, attributes: {} },
      ...{ category: null, datasets: ['Prices'], source: { modelId: siteId, name: shop } },
      firstSeenAt: at(past[0]?.[0] ?? 1),
      lastSeenAt: last === null ? at(lastDay) : at(today),
      lastChangedAt: at(lastDay),
      removedAt: last === null ? at(lastDay) : null,
    });
  }
  changes.sort((a, b) => a.observedAt.localeCompare(b.observedAt));
  return { items, changes: changes.map((change, k): TestChange => ({ id: k + 1, ...change })) };
}

/** A lake of these items and changes, and the command over it. */
export async function openWatchWorld(
  { items, changes }: ReturnType<typeof recordListings>,
  today: number,
): Promise<WatchWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'pricelake-watch-'));
  const lake = join(folder, 'lake');
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const writeRows = (name: string, rows: object[]) => write(name, rows.map((row) => JSON.stringify(row)).join('\n'));
  const files = {
    dataFile: await writeRows('items.ndjson', items),
    changesFile: await writeRows('changes.ndjson', changes),
  };
  const sandbox = await startSandbox({ ...files, ratePerSecond: null });
  const pipeline = pipelineSchema.parse({
    name: 'prices',
    source: { baseUrl: sandbox.baseUrl, apiKey: 'key' },
    lake: { path: lake },
    proof: { sample: 0, products: false },
  });
  const source = { ...pipeline.source, apiKey: sandbox.keys.live };
  const now = () => new Date(at(today).replace('T10', 'T12'));
  await syncWithWings({ ...pipeline, file: 'prices.yaml', source }, { ...realIo, now });
  await sandbox.close();
  return {
    folder,
    lake,
    list: (name, lines) => write(name, `${lines.join('\n')}\n`),
    watch: (file, ...args) => runHere(['watch', '--lake', lake, '--list', file, ...args]),
    close: () => rm(folder, { recursive: true }),
  };
}
