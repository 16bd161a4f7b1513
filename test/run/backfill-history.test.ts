import { afterEach, describe, expect, test } from 'vitest';
import { backfillHistory } from '../../src/cli/backfill-history.js';
import { changeText, openWorld, readLake, refuse, testIo, type World } from './world.js';

let world: World;
afterEach(() => world.close());

const histories = () => world.requests.filter((request) => request.endsWith('/history'));
const signal = new AbortController().signal;
const readHistory = (where = 'true') =>
  readLake(
    world.lakePath,
    (glob) =>
      `SELECT change_id, item_id, kind, epoch_us(observed_at), price, previous_price, currency IS NOT NULL, origin
       FROM ${glob('history')} WHERE ${where} ORDER BY item_id, observed_at, kind`,
  );

describe('a backfill of history', () => {
  test('adds the missing history rows with their change ids, and none twice', async () => {
    world = await openWorld({ items: 80, sites: 3, history: 'none' });
    await world.sync();
    await world.sandbox.advance({ hours: 3, changes: 60 });
    await world.sync();
    const before = await readHistory();
    const full = await truthOf();
    const chosen = [...new Set(full.map(([, itemId]) => itemId as string))].slice(0, 45);
    const { run, asked } = await backfillHistory(world.pipeline, { itemIds: chosen.map(BigInt) }, testIo, signal);
    expect(asked).toBe(45);
    expect(histories()).toHaveLength(45);
    expect(run.row.received).toBe(run.row.written + run.row.rejected + run.row.deduplicated);
    expect(run.row.calls).toBeGreaterThan(45n);
    expect(run.row.usage_calls).toBe(run.row.calls);
    const after = await readHistory();
    const withoutOrigin = after.filter(([, id]) => chosen.includes(id as string)).map((row) => row.slice(0, 4));
    expect(withoutOrigin).toEqual(full.filter(([, id]) => chosen.includes(id as string)));
    expect(after.filter((row) => row[7] !== 'history')).toEqual(before);
    await backfillHistory(world.pipeline, { itemIds: chosen.map(BigInt) }, testIo, signal);
    expect(await readHistory()).toEqual(after);
  });

  test("adds an item's changes of the same kind at the same time with their change ids", async () => {
    const toDay = (text: string) => text.replaceAll(/("observedAt":"[^T"]+T)[^"]+/g, '$100:00:00Z');
    const intercept = changeText(/\/(changes|history)$/, toDay);
    world = await openWorld({ items: 30, sites: 2, history: 'none', intercept });
    await world.sync();
    await world.sandbox.advance({ hours: 3, changes: 60 });
    await world.sync();
    await backfillHistory(world.pipeline, { where: 'true' }, testIo, signal);
    const items = new Set((await readHistory("origin = 'history'")).map(([, itemId]) => itemId));
    const told = (await truthOf()).filter(([, itemId]) => items.has(itemId as string));
    expect(items.size).toBeGreaterThan(20);
    const ids = (await readHistory()).filter(([, itemId]) => items.has(itemId as string)).map(([id]) => id as string);
    expect(ids.sort()).toEqual(told.map(([id]) => id as string).sort());
  });

  test.each(['null', '{"id":1}'])(
    'accepts entries that contain an item, like changes in the feed: %s',
    async (item) => {
      const intercept = changeText(/\/history$/, (text) =>
        text.replaceAll(/\{"id":(\d+),/g, `{"id":$1,"item":${item},`),
      );
      world = await openWorld({ items: 30, sites: 2, history: 'none', intercept });
      await world.sync();
      const { run } = await backfillHistory(world.pipeline, { where: 'true' }, testIo, signal);
      expect(run.row.rejected).toBe(0n);
      const told = new Set((await truthOf()).map(([, itemId, , at]) => `${itemId} ${at}`));
      const rows = await readHistory("origin = 'history'");
      expect(rows.length).toBeGreaterThan(20);
      expect(rows.filter(([, itemId, , at]) => !told.has(`${itemId} ${at}`))).toEqual([]);
    },
  );

  test('of items selected by a condition adds history on a plan without the feed', async () => {
    world = await openWorld({
      items: 120,
      plan: 'free',
      limits: { exportRowsPerMonth: 5000, datasets: null, historyDays: 365 },
    });
    await world.sync();
    const { run } = await backfillHistory(world.pipeline, { where: 'price > 20' }, testIo, signal);
    expect(run.row.mode).toBe('poll');
    const rows = await readHistory();
    expect(rows.length).toBeGreaterThan(50);
    // The document doesn't say that an entry's id is a change id, so it is left out if no known id confirms it.
    expect(new Set(rows.map((row) => row[0]))).toEqual(new Set(['∅']));
    const columns = rows.map((row) => row.slice(1, 4).join());
    expect(columns).toEqual((await truthOf()).map((row) => row.slice(1).join()).filter((row) => columns.includes(row)));
  });

  test('that was stopped continues with the missing items, and a run in between leaves it alone', async () => {
    let left = 7;
    world = await openWorld({
      items: 50,
      sites: 2,
      history: 'none',
      intercept: (request) =>
        request.url.endsWith('/history') && left-- <= 0 ? Promise.resolve(refuse(401)) : undefined,
    });
    await world.sync();
    const where = { where: 'true' };
    await expect(backfillHistory(world.pipeline, where, testIo, signal)).rejects.toMatchObject({
      code: 'unauthorized',
    });
    expect((await world.sync()).published).toBe(false);
    left = Number.POSITIVE_INFINITY;
    const { asked, items, run } = await backfillHistory(world.pipeline, where, testIo, signal);
    expect(asked).toBeLessThanOrEqual(items - 7);
    expect(run.row.usage_calls).toBe(run.row.calls);
    expect(run.row.calls).toBeGreaterThan(BigInt(items));
    expect(new Set((await readHistory()).map((row) => row[1])).size).toBeGreaterThan(45);

    // A condition that selects nothing or is invalid is refused before any call.
    world.requests.length = 0;
    for (const [where, message] of [
      ['price >', /--backfill price >: .*syntax error/i],
      ['true) OR (nothing = 1', /--backfill .*"?nothing"?/],
      ['price < 0', /--backfill selects no items/],
    ] as const) {
      await expect(backfillHistory(world.pipeline, { where }, testIo, signal)).rejects.toThrow(message);
    }
    expect(world.requests).toEqual([]);
  });
});

/** All changes in the sandbox's feed: id, item, kind, time. */
async function truthOf(): Promise<string[][]> {
  const { changes } = await world.sandbox.dump();
  const rows = changes.map((line) => {
    const pick = (pattern: RegExp) => pattern.exec(line)?.[1] as string;
    const time = pick(/"observedAt":"([^"]+)"/);
    const micros =
      BigInt(Date.parse(`${time.slice(0, 19)}Z`)) * 1000n +
      BigInt((/\.(\d+)/.exec(time)?.[1] ?? '').padEnd(6, '0').slice(0, 6));
    return [pick(/^\{"id":(\d+)/), pick(/"item":\{"id":(\d+)/), pick(/"kind":"(\w+)"/), String(micros)];
  });
  const key = (row: string[]) => `${row[1]?.padStart(20)} ${row[3]} ${row[2]}`;
  return rows.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
