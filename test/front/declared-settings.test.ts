/** The pipeline file's settings for offers are stored in the lake. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLake } from '../../src/lake/lake.js';
import { Database } from '../../src/sql/connection.js';
import { verifyLake } from '../../src/verify/verify-lake.js';
import { testIo } from '../run/world.js';
import { openStory, type Story } from './story.js';

const RADIO = { brand: 'Acme', mpn: 'R-1' };
let story: Story;
beforeAll(async () => {
  story = await openStory();
  story.at('17 08:00');
  for (const siteId of [11n, 22n, 33n]) story.add({ ...RADIO, title: 'Radio', siteId, price: 10_000 });
  story.add({ ...RADIO, title: 'Radio (Gently-LOVÉD)', siteId: 44n, price: 9_000 });
  // One product is a small part of these.
  for (let n = 0; n < 40; n++) story.add({ brand: 'Bead', mpn: `B-${n}`, siteId: 44n, price: 10 + n });
  await story.run();
});
afterAll(() => story.close());

const NO_WORDS = { used: [], refurbished: [], opened: [] };
const tell = (words: Partial<typeof story.pipeline.analysis.words>) => {
  story.pipeline.analysis = { ...story.pipeline.analysis, words: { ...NO_WORDS, ...words } };
};
const last = () =>
  story.read("SELECT condition, is_counted, findings FROM offers WHERE product_id = 'acme-r1' AND site_id = 44");
const rules = () => story.read('SELECT rule, site_id, meaning, text FROM offer_rules ORDER BY meaning, text');

test('a word in the pipeline file marks titles from the next run, even if nothing else changed', async () => {
  expect(await last()).toEqual(['∅ | true | []']);
  tell({ used: ['gently lovéd', 'GENTLY'] });
  expect((await story.run()).published).toBe(true);
  expect(await rules()).toEqual(['word | ∅ | used | GENTLY', 'word | ∅ | used | gently lovéd']);
  expect(await last()).toEqual(["used | false | ['condition']"]);
  expect((await story.run()).published).toBe(false);
});

test('a time zone and a region in the pipeline file are stored, without changing the judgment of an offer', async () => {
  const before = await last();
  const { attributes } = story.pipeline.analysis;
  story.pipeline.analysis = {
    ...story.pipeline.analysis,
    timeZone: 'Europe/Zagreb',
    shops: { 33: { attributes: { values: attributes.values }, timeZone: 'Asia/Kathmandu', region: 'East' } },
  };
  expect((await story.run()).published).toBe(true);
  expect((await rules()).filter((row) => !row.startsWith('word')).sort()).toEqual([
    'region | 33 | shop | East',
    'time zone | 33 | shop | Asia/Kathmandu',
    'time zone | ∅ | shop | Europe/Zagreb',
  ]);
  expect(await last()).toEqual(before);
  story.pipeline.analysis = { ...story.pipeline.analysis, timeZone: 'UTC', shops: {} };
  await story.run();
});

test("the order of words doesn't matter", async () => {
  tell({ used: ['GENTLY', 'gently lovéd', 'GENTLY'] });
  expect((await story.run()).published).toBe(false);
});

test('verify computes the same offers from the settings in the lake', async () => {
  const db = await Database.open();
  const options = { signal: new AbortController().signal };
  const proofs = await verifyLake(await openLake(story.lakePath, { create: false }), db, options, testIo);
  expect(proofs.filter(({ found }) => found > 0)).toEqual([]);
  db.close();
});

test('a run with changes to other products keeps the stored settings', async () => {
  story.add({ brand: 'Bead', mpn: 'B-99', siteId: 11n, price: 70 });
  await story.run();
  expect(await last()).toEqual(["used | false | ['condition']"]);
});

test('settings that are removed from the pipeline file are removed from the lake', async () => {
  tell({});
  expect((await story.run()).published).toBe(true);
  expect(await story.read('SELECT count(*) FROM offers WHERE is_counted = false')).toEqual(['0']);
  expect(await last()).toEqual(['∅ | true | []']);
});

test('each kind of word has the meaning of its name', async () => {
  const words = Object.fromEntries(Object.keys(NO_WORDS).map((kind) => [kind, [`zz ${kind}`]]));
  for (const kind of Object.keys(NO_WORDS)) {
    const product = { brand: 'Kind', mpn: kind };
    for (const siteId of [11n, 22n, 33n]) story.add({ ...product, title: 'Lamp', siteId, price: 1000 });
    story.add({ ...product, title: `Lamp zz-${kind}`, siteId: 44n, price: 1600 });
  }
  tell(words);
  await story.run();
  const found = "array_to_string(list_concat(findings, doubts), ',')";
  const rows = `SELECT product_id, condition, ${found}, reason FROM offers WHERE product_id LIKE 'kind-%' AND site_id = 44`;
  expect(await story.read(`${rows} ORDER BY product_id`)).toEqual([
    'kind-opened | opened | condition | opened',
    'kind-refurbished | refurbished | condition | refurbished',
    'kind-used | used | condition | used',
  ]);
});
