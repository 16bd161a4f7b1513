/** The service is asked when each website was last seen, on a schedule and within the budget. */
import { expect, onTestFinished, test } from 'vitest';
import { rebuildWithWings } from '../../src/wings/index.js';
import { openStory, type Story } from '../front/story.js';
import { testIo } from '../run/world.js';
import type { Item } from '../sim/world.js';

const HOUR = 3_600_000_000_000n;
const DAY = 24n * HOUR;
const RADIO = { brand: 'Acme', mpn: 'R-1', title: 'Radio' };

interface Shops extends Story {
  radios: Item[];
  /** A scrape sees all listings again, unchanged, except those of one source. */
  see(but?: bigint): void;
  /** Websites that were probed since the last call. */
  asked(): string[];
  sources(): Promise<string[]>;
}

/** Three websites that list one radio each; the third has two sources. Websites are probed once a day. */
async function open(): Promise<Shops> {
  const story = await openStory();
  onTestFinished(() => story.close());
  story.pipeline.landing.keep = Number.MAX_SAFE_INTEGER;
  story.pipeline.probe = 24 * 3_600_000;
  story.at('01 08:00');
  const sources = [
    [11n, 111n],
    [22n, 221n],
    [33n, 331n],
    [33n, 332n],
  ] as const;
  const radios = sources.map(([siteId, modelId]) => story.add({ ...RADIO, siteId, modelId }));
  await story.run();
  let from = story.service.requests.length;
  return Object.assign(story, {
    radios,
    see: (but?: bigint) => {
      for (const item of radios) if (item.modelId !== but) story.alter(item, { lastSeenAt: story.world.now });
    },
    asked: () => {
      const news = story.service.requests.slice(from).filter((request) => request.includes('lastSeen'));
      from = story.service.requests.length;
      return news;
    },
    sources: () =>
      story.read('SELECT source_id, t(last_seen_at), read_by, t(clock_at), is_stale FROM sources ORDER BY source_id'),
  });
}

test("a probe requests each website once, publishes newer times, and isn't repeated before it is due", async () => {
  const story = await open();
  expect(story.asked()).toEqual([]);
  story.world.now += 23n * HOUR;
  story.see();
  expect((await story.run()).published).toBe(false);
  expect(story.asked()).toEqual([]);
  story.world.now += HOUR;
  expect((await story.run()).published).toBe(true);
  expect(story.asked().map((request) => request.replace(/^.*items/, 'items'))).toEqual(
    [11, 22, 33].map((site) => `items?site=${site}&sort=-lastSeen&size=1`),
  );
  expect(await story.sources()).toEqual([
    '111 | 02 07:01 | probe | 02 07:01 | false',
    '221 | 02 07:01 | probe | 02 07:01 | false',
    '331 | 02 07:01 | probe | 02 07:01 | false',
    '332 | 01 08:00 | copy | 01 08:00 | false',
  ]);
  expect((await story.run()).published).toBe(false);
  expect(story.asked()).toEqual([]);
  story.world.now += DAY;
  expect((await story.run()).published).toBe(false);
  expect(story.asked()).toHaveLength(3);
  expect((await story.run()).published).toBe(false);
  expect(story.asked()).toEqual([]);
});

test('a probe finds the source of an unseen website stale, and both sources if the whole website is unseen', async () => {
  const story = await open();
  const stale = () => story.read("SELECT site_id FROM offers WHERE list_contains(findings, 'stale') ORDER BY ALL");
  story.world.now += 15n * DAY;
  for (const item of story.radios.slice(1, 2)) story.alter(item, { lastSeenAt: story.world.now });
  await story.run();
  expect((await story.sources()).map((line) => line.replace(/ \|.*\| /, ' '))).toEqual([
    '111 true',
    '221 false',
    '331 true',
    '332 true',
  ]);
  expect(await stale()).toEqual(['11', '33', '33']);
  const before = await story.sources();
  await rebuildWithWings(story.pipeline, testIo, new AbortController().signal);
  expect(await story.sources()).toEqual(before);
  expect(await stale()).toEqual(['11', '33', '33']);
  expect(story.asked()).toHaveLength(3);
  story.world.now += DAY;
  story.see(332n);
  await story.run();
  expect(await stale()).toEqual(['33']);
});

test("a complete copy counts as a probe, and a website without listings isn't probed", async () => {
  const story = await open();
  story.remove(story.radios[0] as Item);
  story.world.now += 23n * HOUR;
  story.pipeline.source.mode = 'snapshot';
  await story.run();
  story.world.now += 2n * HOUR;
  await story.run();
  expect(story.asked()).toEqual([]);
  story.world.now += 23n * HOUR;
  await story.run();
  expect(story.asked()).toHaveLength(2);
  story.world.now += 2n * DAY;
  story.pipeline.source.mode = 'snapshot';
  await story.run();
  expect(story.asked()).toEqual([]);
});

test('a probe uses the calls that the budget leaves besides the run, and the next one begins with the other websites', async () => {
  const story = await open();
  // The plan, whose call may count twice, and a page of the feed come first; 50 calls are reserved for the rest of the run.
  story.pipeline.budget = { ...story.pipeline.budget, calls: { count: story.service.used.calls + 3 + 50 + 1 } };
  story.world.now += DAY;
  story.see();
  await story.run();
  expect(story.asked()).toHaveLength(1);
  story.pipeline.budget = { ...story.pipeline.budget, calls: { percent: 90 } };
  story.world.now += DAY;
  story.see();
  await story.run();
  expect(story.asked().map((request) => /site=(\d+)/.exec(request)?.[1])).toEqual(['22', '33', '11']);
});

test('an interrupted probe requests no website again whose answer is journaled', async () => {
  const story = await open();
  story.world.now += DAY;
  story.see();
  let left = 2;
  const log = (_level: string, _event: string, facts?: Record<string, unknown>) => {
    if (String(facts?.target).includes('lastSeen') && --left === 0) throw new Error('stopped here');
  };
  await expect(story.sync({ log })).rejects.toThrow('stopped here');
  await story.run();
  // It was stopped after the second answer, before the journal listed it.
  expect(story.asked().map((request) => /site=(\d+)/.exec(request)?.[1])).toEqual(['11', '22', '22', '33']);
  expect((await story.run()).published).toBe(false);
  expect(story.asked()).toEqual([]);
});
