/** Offers from a source that is no longer seen are stale, and offers from a source that is seen are fresh, regardless of their rows. */

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openLake } from '../../src/lake/lake.js';
import { Database } from '../../src/sql/connection.js';
import { readAnalysis } from '../../src/sql/model.js';
import { verifyLake } from '../../src/verify/verify-lake.js';
import { openStory, type Story } from '../front/story.js';
import { testIo } from '../run/world.js';
import type { Item } from '../sim/world.js';

const RADIO = { brand: 'Acme', mpn: 'R-1', title: 'Radio' };
const LAMP = { brand: 'Acme', mpn: 'L-1', title: 'Lamp' };
const HOUR = 3_600_000_000_000n;
const DAY = 24n * HOUR;
const SITES = [11n, 22n, 33n];
let story: Story;
let radios: Item[];
let beads: Item[];
beforeAll(async () => {
  story = await openStory();
  story.at('01 08:00');
  radios = SITES.map((siteId) => story.add({ ...RADIO, siteId, modelId: siteId * 10n + 1n, price: 10_000 }));
  radios.push(...SITES.slice(1).map((siteId) => story.add({ ...LAMP, siteId, modelId: siteId * 10n + 1n })));
  // One product is a small part of these.
  beads = Array.from({ length: 40 }, (_, n) =>
    story.add({ brand: 'Bead', mpn: `B-${n}`, siteId: 44n, modelId: 441n, price: 10 + n }),
  );
  await story.run();
});
afterAll(() => story.close());

const alive = () => radios.filter(({ siteId }) => siteId !== 33n);
/** A scrape sees the listings again, unchanged. */
const see = (...items: readonly Item[]) => {
  for (const item of items) story.alter(item, { lastSeenAt: story.world.now });
};
const reconcile = () => {
  story.pipeline.source.mode = 'snapshot';
  return story.run();
};
const sources = () =>
  story.read('SELECT source_id, t(last_seen_at), read_by, t(clock_at), is_stale FROM sources ORDER BY source_id');
const offers = () =>
  story.read("SELECT site_id, findings, reason FROM offers WHERE product_id = 'acme-r1' ORDER BY site_id");
const spreads = () =>
  story.read("SELECT product_id, trusted_shops, grade FROM price_spread WHERE product_id LIKE 'acme-%' ORDER BY ALL");
const isWrittenAgain = (runId: string) =>
  story.read(`SELECT count(*) FROM offers WHERE run_id = '${runId}' AND product_id LIKE 'bead-%'`);
const proofs = async () => {
  const db = await Database.open();
  const options = { signal: new AbortController().signal };
  const all = await verifyLake(await openLake(story.lakePath, { create: false }), db, options, testIo);
  db.close();
  return all.filter(({ found }) => found > 0);
};

test('a reconcile that reads every row again keeps offers fresh, even if no row differs', async () => {
  story.at('25 08:00');
  see(...radios, ...beads);
  const { published, row } = await reconcile();
  expect(published).toBe(true);
  expect(row).toMatchObject({ differences: 0n, written: 0n });
  expect(await sources()).toEqual([111, 221, 331, 441].map((id) => `${id} | 25 08:00 | copy | 25 08:00 | false`));
  expect(await story.read("SELECT count(*) FROM items WHERE t(last_seen_at) = '01 08:00'")).toEqual(['45']);
  expect(await story.read('SELECT count(*) FROM offers WHERE NOT is_counted')).toEqual(['0']);
});

test('a run that reads the same rows again publishes nothing', async () => {
  expect((await reconcile()).published).toBe(false);
  expect((await story.run()).published).toBe(false);
});

test("a source that wasn't seen for longer than the limit is stale, and its offers aren't counted", async () => {
  expect(await spreads()).toEqual(['acme-l1 | 2 | B', 'acme-r1 | 3 | B']);
  story.world.now += 14n * DAY - HOUR;
  see(...alive(), ...beads);
  await reconcile();
  expect(await offers()).toEqual(['11 | [] | ∅', '22 | [] | ∅', '33 | [] | ∅']);
  story.world.now += 2n * HOUR;
  see(...alive(), ...beads);
  const { row } = await reconcile();
  expect(await offers()).toEqual([
    '11 | [] | ∅',
    '22 | [] | ∅',
    "33 | ['stale'] | its source was last seen on 2026-11-25",
  ]);
  expect(await spreads()).toEqual(['acme-l1 | 1 | C', 'acme-r1 | 2 | B']);
  expect(await isWrittenAgain(row.run_id)).toEqual(['0']);
  expect(await proofs()).toEqual([]);
});

test('a stale source that is seen a little later stays stale, and its offers name the later day', async () => {
  const [radio, lamp] = radios.filter(({ siteId }) => siteId === 33n) as [Item, Item];
  story.alter(radio, { lastSeenAt: radio.lastSeenAt + DAY });
  story.world.now += 2n * DAY;
  see(...alive(), ...beads);
  await reconcile();
  expect((await offers())[2]).toBe("33 | ['stale'] | its source was last seen on 2026-11-26");
  story.alter(lamp, { lastSeenAt: radio.lastSeenAt });
  expect(await proofs()).toEqual([]);
});

test('a change of one item makes its source fresh', async () => {
  story.change(radios[2] as Item, { price: 10_100 });
  await story.run();
  expect((await sources())[2]).toMatch(/^331 .* change .* false$/);
  expect(await offers()).toEqual(['11 | [] | ∅', '22 | [] | ∅', '33 | [] | ∅']);
  expect(await proofs()).toEqual([]);
});

test('another limit applies from the next run, even if nothing changed', async () => {
  const limits = () => story.read('SELECT DISTINCT stale_after FROM sources ORDER BY ALL');
  story.pipeline.analysis = { ...story.pipeline.analysis, staleAfter: { seconds: 3600 } };
  expect((await story.run()).published).toBe(true);
  expect(await limits()).toEqual(['3600']);
  expect((await story.run()).published).toBe(false);
  expect(await proofs()).toEqual([]);
});

test('a poll updates the times of the items that changed', async () => {
  story.pipeline.source.mode = 'poll';
  story.world.now += DAY;
  const times = () => story.read('SELECT source_id, t(last_seen_at), t(clock_at) FROM sources ORDER BY source_id');
  const before = await times();
  story.change(radios[0] as Item, { title: 'Radio!' });
  await story.run();
  expect((await sources())[0]).toMatch(/^111 \| .* \| poll \| .* \| false$/);
  expect((await times()).slice(1)).toEqual(before.slice(1));
});

test('a limit of zero means that no source is stale', async () => {
  story.pipeline.analysis = { ...story.pipeline.analysis, staleAfter: { seconds: 0 } };
  story.world.now += 100n * DAY;
  see(...beads);
  await reconcile();
  expect(await story.read('SELECT count(*) FROM sources WHERE is_stale OR stale_after IS NOT NULL')).toEqual(['0']);
});

async function openOther(): Promise<Story> {
  const other = await openStory();
  onTestFinished(() => other.close());
  other.at('20 08:00');
  return other;
}
/** Adds a listing that was last seen so many days ago. */
function addOld(other: Story, ago: number, values: Partial<Item>): Item {
  const { now } = other.world;
  other.world.now = now - BigInt(ago) * DAY;
  const item = other.add(values);
  other.world.now = now;
  return item;
}

test('a run that was stopped after the commit of sources judges their offers when it continues', async () => {
  const other = await openOther();
  for (const siteId of SITES) other.add({ ...RADIO, siteId, modelId: siteId });
  // One product is a small part of these.
  const others = Array.from({ length: 20 }, (_, n) => other.add({ brand: 'Bead', mpn: `B-${n}`, siteId: 44n }));
  await other.run();
  other.world.now += 20n * DAY;
  for (const item of others) other.alter(item, { lastSeenAt: other.world.now });
  other.pipeline.source.mode = 'snapshot';
  const log = (_level: string, event: string, facts?: Record<string, unknown>) => {
    if (event === 'committed' && facts?.table === 'sources') throw new Error('stopped here');
  };
  await expect(other.sync({ log })).rejects.toThrow('stopped here');
  await other.run();
  expect(await other.read("SELECT count(*) FROM offers WHERE list_contains(findings, 'stale')")).toEqual(['3']);
});

test('a limit in multiples of the usual interval keeps sources that are rarely seen fresh', async () => {
  const other = await openOther();
  other.pipeline.analysis = { ...other.pipeline.analysis, staleAfter: { intervals: 3 } };
  // Seen every day until 5 days ago, every 20 days until 50 days ago, and only twice.
  for (let n = 0; n < 6; n++) {
    addOld(other, 5 + n, { siteId: 11n, modelId: 1n });
    addOld(other, 50 + 20 * n, { siteId: 22n, modelId: 2n });
  }
  for (const ago of [90, 95]) addOld(other, ago, { siteId: 33n, modelId: 3n });
  for (const ago of [2, 1, 0]) addOld(other, ago, { siteId: 44n, modelId: 4n });
  await other.run();
  expect(await other.read('SELECT source_id, stale_after, is_stale FROM sources ORDER BY source_id')).toEqual([
    `1 | ${3 * 86_400} | true`,
    `2 | ${60 * 86_400} | false`,
    '3 | ∅ | false',
    `4 | ${3 * 86_400} | false`,
  ]);
  other.add({ siteId: 11n, modelId: 1n });
  await other.run();
  const first = () => other.read('SELECT stale_after, is_stale FROM sources WHERE source_id = 1');
  expect(await first()).toEqual([`${3 * 86_400} | false`]);
  // With another multiple, the intervals are measured again: seven days within eleven.
  other.pipeline.analysis = { ...other.pipeline.analysis, staleAfter: { intervals: 6 } };
  await other.run();
  expect(await first()).toEqual([`${10 * 86_400} | false`]);
});

test('changes in the feed advance the data clock, and the check seen_ahead accepts their times', async () => {
  const other = await openOther();
  other.pipeline.checks = {};
  const item = addOld(other, 20, { siteId: 11n });
  const { checks } = await other.run();
  expect(checks.find(({ name }) => name === 'seen_ahead')?.violations).toBe(0n);
  other.world.now += 5n * DAY;
  other.change(item, { price: 900 });
  const next = await other.run();
  expect(next.checks.find(({ name }) => name === 'seen_ahead')?.violations).toBe(0n);
  const clock = readAnalysis('data_clock');
  expect(await other.read(`SELECT strftime(seen_day, '%d') FROM (${clock})`)).toEqual(['25']);
});
