import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { type LosslessNumber, parse, stringify } from 'lossless-json';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RunReport } from '../../src/run/sync.js';
import { syncWithWings } from '../../src/wings/index.js';
import { listEvents } from '../../src/wings/webhook/event-files.js';
import { EventStore } from '../../src/wings/webhook/event-store.js';
import { startReceiver } from '../../src/wings/webhook/receiver.js';
import { DeliveryClock } from '../sandbox/delivery-clock.js';
import { expectExactCopy } from './exact-copy.js';
import { landEvent, moveOn, openWorld, readLake, testIo, type World, type WorldOptions } from './world.js';

interface FeedPage {
  changes: { id: LosslessNumber }[];
  hasMore: boolean;
  nextCursor: LosslessNumber;
}

let world: World;
/** Changes that the feed hides from the runs: those after an id for now, or some forever. */
let late: bigint | undefined;
let lost: (id: bigint) => boolean = () => false;
beforeEach(() => {
  late = undefined;
  lost = () => false;
});

/** A world with one published run. */
async function startWorld(options: WorldOptions): Promise<void> {
  world = await openWorld({
    items: 60,
    sites: 3,
    ...options,
    intercept: (request, next) => {
      const { pathname } = new URL(request.url);
      return pathname.endsWith('/changes') ? next(request).then(spoilFeed) : undefined;
    },
  });
  await world.sync();
}

/** The tests of a group share a world: each continues where the previous one ended. */
function openPublished(options: WorldOptions = {}): void {
  beforeAll(() => startWorld(options));
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

const idOf = (line: string) => BigInt(/"id":(\d+)/.exec(line)?.[1] ?? 0);

const advance = (changes: number) => moveOn(world, { hours: 1, changes });
const land = (eventId: string, changes: string[]) => landEvent(world.lakePath, eventId, changes);

/** Counts history rows by origin. Expects every change of the service exactly once. */
async function readWholeHistory(): Promise<Record<string, number>> {
  const rows = await readLake(
    world.lakePath,
    (glob) => `SELECT change_id, origin FROM ${glob('history')} ORDER BY change_id NULLS LAST`,
  );
  const ids = rows.map(([id]) => id).filter((id) => id !== '∅');
  expect(ids).toEqual((await world.sandbox.dump()).changes.map((line) => String(idOf(line))));
  const counts: Record<string, number> = {};
  for (const [, origin = ''] of rows) counts[origin] = (counts[origin] ?? 0) + 1;
  return counts;
}

function expectRowsAddUp({ row, checks }: RunReport): void {
  expect(row.received).toBe(row.written + row.rejected + row.deduplicated);
  expect(checks.filter(({ severity, violations }) => severity === 'gate' && violations > 0n)).toEqual([]);
}

/** Stops a run when it logs the event. Its effects until then remain, as after a kill. */
function stopAt(event: string): Promise<RunReport> {
  const log = (_level: string, logged: string) => {
    if (logged === event) throw new Error('stopped');
  };
  return syncWithWings(world.pipeline, { ...testIo, log });
}

describe('changes from webhooks', () => {
  const time = new DeliveryClock();
  openPublished({ webhook: { secrets: ['whsec_1'], time } });

  test('that the service sends are landed by the receiver and published by a run, each exactly once', async () => {
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
      expect(Object.keys(await readWholeHistory())).toEqual(['feed']); // the feed's rows take precedence
      await expectExactCopy(world);
      expect(await listEvents(world.lakePath)).toEqual([]);
      const [sent] = webhook.status.deliveries;
      expect(await webhook.resend(sent?.eventId ?? '')).toMatchObject({ status: 204 });
      expect(await listEvents(world.lakePath)).toEqual([]);
    } finally {
      await webhook.remove();
      await receiver.close();
    }
  });

  test('that a run has already read in the feed are not new: no file is written, and the events are removed', async () => {
    const changes = await advance(30);
    await world.sync();
    // A retry contains the names of a day ago.
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
    expect(await listEvents(world.lakePath)).toEqual([]);
  });

  // I2 of SPEC.md
  test('ahead of the feed go into history; the feed then advances the cursor and adds none twice', async () => {
    const changes = await advance(40);
    late = idOf(changes[14] ?? '');
    await land('evt_ahead', changes);
    const ahead = await world.sync();
    expect(ahead.row.cursor_to).toBe(late);
    expectRowsAddUp(ahead);
    expect(await readWholeHistory()).toMatchObject({ webhook: 25 });

    late = idOf(changes[24] ?? '');
    await land('evt_overlap', changes.slice(20)); // some of the same changes, in another event
    expectRowsAddUp(await world.sync());

    late = undefined;
    const after = await world.sync();
    expectRowsAddUp(after);
    expect(after.row.cursor_to).toBe(idOf(changes.at(-1) ?? ''));
    expect(await readWholeHistory()).toMatchObject({ webhook: 25 });
    await expectExactCopy(world);
  });

  test("that the feed has skipped fill the gap, and those that can't be typed are rejected", async () => {
    const changes = await advance(40);
    lost = (id) => id <= idOf(changes[20] ?? '');
    const bad = (changes[30] ?? '').replace(/"kind":"\w+"/, '"kind":null');
    await land('evt_gap', [...changes.slice(0, 21), bad, '[]']);
    const report = await world.sync();
    expectRowsAddUp(report);
    expect(report.row.rejected).toBe(2n);
    const rejects = await readLake(
      world.lakePath,
      (glob) => `SELECT table_name, part, line_number FROM ${glob('rejects')} ORDER BY line_number`,
    );
    expect(rejects).toEqual([
      ['history', 'webhook.ndjson', '22'],
      ['history', 'webhook.ndjson', '23'],
    ]);
    expect(await readWholeHistory()).toMatchObject({ webhook: 25 + 21 });
    await expectExactCopy(world);
  });

  test('are published once by a run that is stopped and continued, and later events belong to the next run', async () => {
    const changes = await advance(20);
    late = idOf(changes[9] ?? '');
    await land('evt_before', changes.slice(0, 15));
    await expect(stopAt('committed')).rejects.toThrow('stopped'); // between history and items
    await land('evt_meanwhile', changes.slice(15));
    await expect(stopAt('pointed')).rejects.toThrow('stopped'); // before the events are removed
    expect(await listEvents(world.lakePath)).toHaveLength(2);
    expect((await world.sync()).resumed).toBe(true);
    expect(await listEvents(world.lakePath)).toHaveLength(1);
    late = undefined;
    expectRowsAddUp(await world.sync());
    expect(await listEvents(world.lakePath)).toEqual([]);
    expect(await readWholeHistory()).toMatchObject({ webhook: 25 + 21 + 5 });
    await expectExactCopy(world);
  });
});

test('on a plan without the feed, webhook changes are added to history once, even if the plan later gains the feed', async () => {
  const limits = { exportRowsPerMonth: 5_000, datasets: null, delayHours: 0 };
  await startWorld({ plan: 'free', limits });
  try {
    const polled = await advance(10);
    await world.sync();
    const fresh = await advance(30);
    await land('evt_polled', polled);
    await land('evt_fresh', fresh);
    const report = await world.sync();
    expect(report.row).toMatchObject({ mode: 'poll', cursor_to: null });
    expectRowsAddUp(report);
    const rows = await readLake(
      world.lakePath,
      (glob) => `SELECT change_id, item_id, kind, observed_at, origin, run_id FROM ${glob('history')}`,
    );
    const ids = new Set(rows.map(([id]) => id));
    expect(fresh.map((line) => String(idOf(line))).filter((id) => !ids.has(id))).toEqual([]);
    // Neither changes that a poll had seen, nor those that it sees together with webhooks, get a second row.
    expect(new Set(rows.map((row) => row.slice(1, 4).join())).size).toBe(rows.length);
    expect(rows.filter((row) => row[4] === 'diff' && row[5] === report.row.run_id)).toEqual([]);
    await expectExactCopy(world);
    world.sandbox.changeAccount({ plan: 'pro' });
    expectRowsAddUp(await world.sync());
    await readWholeHistory();
    await expectExactCopy(world);
  } finally {
    await world.close();
  }
});
