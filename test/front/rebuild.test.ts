/** A rebuild gives the same results as runs, for sources, matches and words. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeLakePipeline } from '../../src/run/rebuild/lake-pipeline.js';
import { rebuildWithWings } from '../../src/wings/index.js';
import { testIo } from '../run/world.js';
import { openStory, type Story } from './story.js';

const GTIN = '4006381333931';
const OTHER = '5901234123457';
const RADIO = { brand: 'Acme', mpn: 'R-1', title: 'Radio' };
const DAY = 24n * 3_600_000_000_000n;
const NO_WORDS = { used: [], refurbished: [], opened: [] };

let story: Story;
beforeAll(async () => {
  story = await openStory();
  story.pipeline.landing.keep = Number.MAX_SAFE_INTEGER;
  story.at('01 08:00');
  // Two shops know the GTIN, and two only know the part number. One of the first two knows both.
  story.add({ ...RADIO, gtin: GTIN, siteId: 11n, price: 10_000 });
  story.add({ title: 'Radio', gtin: `0${GTIN}`, siteId: 22n, price: 11_000 });
  story.add({ ...RADIO, siteId: 33n, modelId: 331n, price: 12_000 });
  story.add({ ...RADIO, title: 'Radio (Gently-LOVÉD)', siteId: 44n, price: 9_000 });
  for (let n = 0; n < 40; n++) story.add({ brand: 'Bead', mpn: `B-${n}`, siteId: 44n, price: 10 + n });
  await story.run();
  // The source of website 33 hasn't been seen since.
  story.world.now += 15n * DAY;
  for (const item of story.world.items.values()) {
    if (item.siteId !== 33n) story.alter(item, { lastSeenAt: story.world.now });
  }
  story.add({ brand: 'Bead', mpn: 'B-1', gtin: '96385074', siteId: 11n, price: 10 });
  story.pipeline.source.mode = 'snapshot';
  await story.run();
});
afterAll(() => story.close());

const tell = (words: Partial<typeof story.pipeline.analysis.words>) => {
  story.pipeline.analysis = { ...story.pipeline.analysis, words: { ...NO_WORDS, ...words } };
};
const rebuildAlone = async () =>
  rebuildWithWings(await describeLakePipeline(story.lakePath), testIo, new AbortController().signal);
const sources = () =>
  story.read('SELECT source_id, t(last_seen_at), read_by, is_stale, stale_after FROM sources ORDER BY source_id');
const offers = () =>
  story.read(
    "SELECT site_id, condition, is_counted, findings, reason FROM offers WHERE product_id = 'acme-r1' ORDER BY ALL",
  );
const matches = () => story.read('SELECT product_id, match_id, evidence, item_id FROM matches ORDER BY ALL');
const rules = () => story.read('SELECT rule, site_id, meaning, text FROM offer_rules ORDER BY meaning, text');

test('without a pipeline file, a rebuild gives the same sources, matches and offers', async () => {
  const before = [await sources(), await matches(), await offers()];
  expect(before[0]?.filter((row) => row.includes('| true |'))).toHaveLength(1);
  expect(before[1]).toHaveLength(2);
  await rebuildAlone();
  expect([await sources(), await matches(), await offers()]).toEqual(before);
});

test('without a pipeline file, a rebuild keeps the limit, the words and the matches stored in the lake', async () => {
  tell({ used: ['gently lovéd', 'GENTLY'] });
  story.pipeline.analysis = { ...story.pipeline.analysis, staleAfter: { seconds: 3600 } };
  story.pipeline.userMatches = [
    { productId: 'acme-r1', otherId: GTIN, isMatch: false },
    { productId: 'bead-b3', otherId: OTHER, isMatch: true },
  ];
  expect((await story.run()).published).toBe(true);
  const before = [await sources(), await matches(), await offers(), await rules()];
  expect(before[0]?.every((row) => row.endsWith('| 3600'))).toBe(true);
  expect(before[1]).toContain(`bead-b3 | ${OTHER} | user | ∅`);
  expect(before[1]?.some((row) => row.startsWith('acme-r1'))).toBe(false);
  expect(before[2]?.at(-1)).toMatch(/^44 \| used \| false \| \['condition'/);
  expect(before[3]).toHaveLength(3);
  await rebuildAlone();
  expect([await sources(), await matches(), await offers(), await rules()]).toEqual(before);
  expect((await story.run()).published).toBe(false);
});

test("with a pipeline file, a rebuild uses the file's settings", async () => {
  tell({ refurbished: ['gently'] });
  await rebuildWithWings(story.pipeline, testIo, new AbortController().signal);
  expect(await rules()).toEqual(['word | ∅ | refurbished | gently', 'stale | ∅ | seconds | 3600']);
  expect((await offers()).at(-1)).toMatch(/^44 \| refurbished \| false \| \['condition'/);
});
