import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { type LosslessNumber, parse, stringify } from 'lossless-json';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RunReport, syncPipeline } from '../../src/pipeline/sync.js';
import { listEvents } from '../../src/webhook/event-files.js';
import { EventStore } from '../../src/webhook/event-store.js';
import { startReceiver } from '../../src/webhook/receiver.js';
import { DeliveryClock } from '../sandbox/delivery-clock.js';
import { openWorld, readItems, readLake, readTruth, testIo, type World, type WorldOptions } from './world.js';

interface FeedPage {
  changes: { id: LosslessNumber }[];
  hasMore: boolean;
  nextCursor: LosslessNumber;
}

let world: World;
/** Changes that the feed keeps from the runs: those behind an id for now, or some for ever. */
let late: bigint | undefined;
let lost: (id: bigint) => boolean;
beforeEach(() => {
  late = undefined;
  lost = () => false;
});

/** A world of one published run; the tests of a group share it, each goes on where the one before ended. */
function openPublished(options: WorldOptions = {}): void {
  beforeAll(async () => {
    late = undefined;
    lost = () => false;
    world = await openWorld({
      items: 60,
      sites: 3,
      ...options,
      intercept: (request, next) =>
        new URL(request.url).pathname.endsWith('/changes') ? next(request).then(spoilFeed) : undefined,
    });
    await world.sync();
  });
  afterAll(() => world.close());
}

async function spoilFeed(answer: Response): Promise<Response> {
  if (!answer.ok) return answer;
  const page = parse(await answer.text()) as FeedPage;
  const idOf = (change: FeedPage['changes'][number]) => BigInt(change.id.value);
  const end = late;
  const isLate = end !== undefined && page.changes.some((change) => idOf(change) > end);
  const changes = page.changes.filter((change) => !lost(idOf(change)) && (end === undefined || idOf(change) <= end));
  const cut = isLate ? { hasMore: false, nextCursor: end } : {};
  const headers = { 'content-type': 'application/json' };
  return new Response(stringify({ ...page, changes, ...cut }), { headers });
}

/** The world moves on. Returns the new changes as the service words them. */
async function advance(changes: number): Promise<string[]> {
  const before = (await world.sandbox.dump()).changes.length;
  await world.sandbox.advance({ hours: 1, changes });
  return (await world.sandbox.dump()).changes.slice(before);
}

const idOf = (line: string) => BigInt(/"id":(\d+)/.exec(line)?.[1] ?? 0);

/** What a receiver does with an event of these changes. */
async function land(eventId: string, changes: string[]): Promise<void> {
  const store = await EventStore.open(world.lakePath, testIo);
  const cursor = changes.length === 0 ? 'null' : idOf(changes.at(-1) ?? '');
  const head = `{"id":"${eventId}","type":"changes","createdAt":"2026-11-20T06:00:00Z","cursor":${cursor},`;
  await store.land(eventId, Buffer.from(`${head}"changes":[${changes.join(',')}]}`));
}

/** Change ids of history in order, with where they come from. */
const readHistory = () =>
  readLake(world.lakePath, (glob) => `SELECT change_id, origin FROM ${glob('history')} ORDER BY change_id`);

async function expectWholeHistoryOnce(): Promise<void> {
  const ids = (await readHistory()).map(([id]) => id);
  expect(ids).toEqual((await world.sandbox.dump()).changes.map((line) => String(idOf(line))));
}

async function expectExactCopy(): Promise<void> {
  const [lake, truth] = await Promise.all([readItems(world.lakePath), readTruth(world.sandbox)]);
  expect([...lake.keys()].sort()).toEqual([...truth.keys()].sort());
  for (const [id, row] of truth) expect(lake.get(id)).toEqual(row);
}

function expectRowsAddUp({ row, checks }: RunReport): void {
  expect(row.received).toBe(row.written + row.rejected + row.deduplicated);
  expect(checks.filter(({ severity, violations }) => severity === 'gate' && violations > 0n)).toEqual([]);
}

const countOrigin = async (origin: string) => (await readHistory()).filter((row) => row[1] === origin).length;

describe('the changes of webhooks', () => {
  const time = new DeliveryClock();
  openPublished({ webhook: { secrets: ['whsec_1'], time } });

  test('the whole way: the service sends, the receiver lands, a run publishes, and each change stands once', async () => {
    const store = await EventStore.open(world.lakePath, testIo);
    const address = { host: '127.0.0.1', port: 0, path: '/webhook', maxBodyBytes: 1_000_000 };
    const ages = { maxAgeMs: 3_600_000, maxSkewMs: 60_000 };
    const secrets = { current: async () => ['whsec_1'] };
    const receiver = await startReceiver({ ...address, ...ages, secrets, store }, testIo);
    const { webhook } = world.sandbox;
    try {
      await webhook.set({ url: receiver.url });
      await advance(120);
      await time.passUntil(() => webhook.status.deliveries.length === 2);
      expect(webhook.status.deliveries.map(({ status }) => status)).toEqual([204, 204]);
      const report = await world.sync();
      expect(report.row.deduplicated).toBeGreaterThanOrEqual(120n);
      expectRowsAddUp(report);
      await expectWholeHistoryOnce();
      await expectExactCopy();
      expect(await countOrigin('webhook')).toBe(0); // the feed's are what counts
      expect(await listEvents(world.lakePath)).toEqual([]);
      const [sent] = webhook.status.deliveries;
      expect(await webhook.resend(sent?.eventId ?? '')).toMatchObject({ status: 204 });
      expect(await listEvents(world.lakePath)).toEqual([]);
    } finally {
      await webhook.remove();
      await receiver.close();
    }
  });

  test('that a run has read in the feed are nothing new: no file is written, and the events go', async () => {
    const sites = () => readLake(world.lakePath, (glob) => `SELECT site_id, name FROM ${glob('sites')} ORDER BY ALL`);
    const before = await sites();
    const changes = await advance(30);
    await world.sync();
    // A retry shows the world as it was a day ago.
    await land(
      'evt_late',
      changes.map((line) => line.replaceAll(/"name":"[^"]*","host"/g, '"name":"Old name","host"')),
    );
    await land('evt_empty', []);
    const log = path.join(world.lakePath, 'history', '_delta_log');
    const files = await readdir(log);
    const { published, row } = await world.sync();
    expect(published).toBe(false);
    expect(row).toMatchObject({ received: 30n, written: 0n, rejected: 0n, deduplicated: 30n });
    expect(await readdir(log)).toEqual(files);
    expect(await sites()).toEqual(before);
    expect(await listEvents(world.lakePath)).toEqual([]);
  });

  test('that are ahead of the feed go into history; the feed moves the cursor, is applied, and repeats none', async () => {
    const changes = await advance(40);
    late = idOf(changes[14] ?? '');
    await land('evt_ahead', changes);
    const ahead = await world.sync();
    expect(ahead.row.cursor_to).toBe(late);
    expectRowsAddUp(ahead);
    await expectWholeHistoryOnce();
    expect(await countOrigin('webhook')).toBe(25);

    late = idOf(changes[24] ?? '');
    await land('evt_overlap', changes.slice(20)); // the same again, in another event
    expectRowsAddUp(await world.sync());
    await expectWholeHistoryOnce();

    late = undefined;
    const after = await world.sync();
    expectRowsAddUp(after);
    expect(after.row.cursor_to).toBe(idOf(changes.at(-1) ?? ''));
    await expectWholeHistoryOnce();
    await expectExactCopy();
  });

  test('that the feed has skipped fill the gap, in history and items', async () => {
    const changes = await advance(40);
    const webhooks = await countOrigin('webhook');
    lost = (id) => id <= idOf(changes[20] ?? '');
    await land('evt_gap', changes.slice(0, 21));
    expectRowsAddUp(await world.sync());
    expect(await countOrigin('webhook')).toBe(webhooks + 21);
    await expectWholeHistoryOnce();
    await expectExactCopy();
  });

  test('that were ahead of the feed and then skipped by it are applied when it has come past them', async () => {
    const changes = await advance(30);
    late = idOf(changes[4] ?? '');
    await land('evt_ahead_of_gap', changes);
    await world.sync();
    late = undefined;
    lost = (id) => id > idOf(changes[4] ?? '') && id < idOf(changes[25] ?? '');
    expectRowsAddUp(await world.sync());
    await expectWholeHistoryOnce();
    await expectExactCopy();
  });

  test.each(['committed', 'pointed'])(
    'are published once by a run that is stopped at "%s" and goes on; those that came meanwhile are the next run\'s',
    async (event) => {
      const changes = await advance(20);
      const webhooks = await countOrigin('webhook');
      late = idOf(changes[9] ?? '');
      await land(`evt_${event}_1`, changes.slice(0, 15));
      await expect(stopAt(event)).rejects.toThrow('stopped');
      expect(await listEvents(world.lakePath)).toHaveLength(1);
      await land(`evt_${event}_2`, changes.slice(15));
      expect((await world.sync()).resumed).toBe(true);
      expect(await countOrigin('webhook')).toBe(webhooks + 5);
      expect(await listEvents(world.lakePath)).toHaveLength(1);
      late = undefined;
      expectRowsAddUp(await world.sync());
      expect(await listEvents(world.lakePath)).toEqual([]);
      await expectWholeHistoryOnce();
      await expectExactCopy();
    },
  );

  test('that can not be typed are rejected with their place, and the rest is kept', async () => {
    const changes = await advance(5);
    const webhooks = await countOrigin('webhook');
    late = idOf(changes[0] ?? '');
    const bad = (changes[2] ?? '').replace(/"kind":"\w+"/, '"kind":"SOLD"');
    await land('evt_bad', [changes[1] ?? '', bad, '[]']);
    const report = await world.sync();
    expectRowsAddUp(report);
    expect(report.row.rejected).toBe(2n);
    const rejects = await readLake(
      world.lakePath,
      (glob) => `SELECT table_name, part, line_number FROM ${glob('rejects')} ORDER BY line_number`,
    );
    expect(rejects).toEqual([
      ['history', 'webhook.ndjson', '2'],
      ['history', 'webhook.ndjson', '3'],
    ]);
    expect(await countOrigin('webhook')).toBe(webhooks + 1);
  });
});

/** Stops a run when it logs the event; what it did until then stays, as after a kill. */
function stopAt(event: string): Promise<RunReport> {
  const log = (_level: string, logged: string) => {
    if (logged === event) throw new Error('stopped');
  };
  return syncPipeline(world.pipeline, { ...testIo, log });
}

describe('the changes of webhooks on a plan without the feed', () => {
  const limits = { exportRowsPerMonth: 5_000, datasets: null, delayHours: 0 };
  openPublished({ plan: 'free', limits });

  test('are no second row where a poll has seen the same', async () => {
    const changes = await advance(10);
    await world.sync();
    const diffs = await countOrigin('diff');
    expect(diffs).toBeGreaterThan(0);
    await land('evt_polled', changes);
    expectRowsAddUp(await world.sync());
    const twice = await readLake(
      world.lakePath,
      (glob) => `SELECT item_id FROM ${glob('history')} GROUP BY item_id, kind, observed_at HAVING count(*) > 1`,
    );
    expect(twice).toEqual([]);
    expect(await countOrigin('diff')).toBe(diffs);
  });

  test('go into history as they are, and stand there once also when the plan gets the feed', async () => {
    const changes = await advance(30);
    const [diffs, webhooks] = [await countOrigin('diff'), await countOrigin('webhook')];
    await land('evt_new', changes);
    const polled = await world.sync();
    expect(polled.row).toMatchObject({ mode: 'poll', cursor_to: null });
    expectRowsAddUp(polled);
    expect([await countOrigin('diff'), await countOrigin('webhook')]).toEqual([diffs, webhooks + 30]);
    await expectExactCopy();
    world.sandbox.changeAccount({ plan: 'pro' });
    expectRowsAddUp(await world.sync());
    const ids = (await readHistory()).map(([id]) => id).filter((id) => id !== '∅');
    expect(ids).toEqual((await world.sandbox.dump()).changes.map((line) => String(idOf(line))));
    await expectExactCopy();
  });
});
