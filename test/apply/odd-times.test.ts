/** Sources with unusual times: a recorded past, clocks that are far off, and a lake without the table of sources. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openStory, type Story } from '../front/story.js';
import type { Item } from '../sim/world.js';

const RADIO = { brand: 'Acme', mpn: 'R-1', title: 'Radio' };
const DAY = 24n * 3_600_000_000_000n;
const SITES = [11n, 22n, 33n];

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

test('sources in a recorded past are only stale compared with each other', async () => {
  const other = await openOther();
  for (const siteId of SITES) {
    addOld(other, siteId === 33n ? 315 : 300, { ...RADIO, siteId, modelId: siteId });
  }
  await other.run();
  expect(await other.read('SELECT source_id, is_stale FROM sources ORDER BY source_id')).toEqual([
    '11 | false',
    '22 | false',
    '33 | true',
  ]);
});

test("a last_seen_at far in the future makes no source stale, and is ignored as its source's time", async () => {
  const other = await openOther();
  for (const siteId of SITES) other.add({ ...RADIO, siteId, modelId: siteId, price: 10_000 });
  const ahead = { lastSeenAt: other.world.now + 3000n * DAY };
  for (const siteId of [11n, 44n]) other.alter(other.add({ siteId, modelId: siteId }), ahead);
  await other.run();
  expect(await other.read('SELECT source_id, t(last_seen_at), is_stale FROM sources ORDER BY source_id')).toEqual([
    ...SITES.map((id) => `${id} | 20 08:00 | false`),
    '44 | ∅ | false',
  ]);
});

test('a machine whose clock is years behind judges sources by the times in the data', async () => {
  const other = await openOther();
  for (const siteId of SITES) {
    addOld(other, siteId === 33n ? 30 : 1, { siteId, modelId: siteId });
  }
  await other.sync({ now: () => new Date('2020-01-01T00:00:00Z') });
  expect(await other.read('SELECT source_id, is_stale FROM sources ORDER BY source_id')).toEqual([
    '11 | false',
    '22 | false',
    '33 | true',
  ]);
});

/** Removes the table, as in a lake from a version that lacked it. */
function dropTable(lakePath: string, table: string): void {
  rmSync(path.join(lakePath, table), { recursive: true });
  const pointer = path.join(lakePath, 'lake.json');
  const { tables, ...rest } = JSON.parse(readFileSync(pointer, 'utf8'));
  delete tables[table];
  writeFileSync(pointer, JSON.stringify({ ...rest, tables }));
}

test('a lake without the sources table gets it in the next run, and has no stale source before a copy', async () => {
  const other = await openOther();
  for (const siteId of SITES) {
    addOld(other, siteId === 33n ? 30 : 1, { ...RADIO, siteId, modelId: siteId });
  }
  await other.run();
  dropTable(other.lakePath, 'sources');
  expect((await other.run()).published).toBe(true);
  const rows = () => other.read('SELECT source_id, read_by, is_stale FROM sources ORDER BY source_id');
  expect(await rows()).toEqual(['11 | item | false', '22 | item | false', '33 | item | false']);
  other.pipeline.source.mode = 'snapshot';
  await other.run();
  expect(await rows()).toEqual(['11 | copy | false', '22 | copy | false', '33 | copy | true']);
});
