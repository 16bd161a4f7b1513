import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import { failure } from '../failure.js';
import { countUsed, expectExactCopy, listExports } from './exact-copy.js';
import { changeText, type Intercept, openWorld } from './world.js';

const world = await openWorld({ items: 120, sites: 3, history: 'feed' });
let copied: string;
beforeAll(async () => {
  await world.sync();
  copied = world.lakePath;
});
afterAll(() => world.close());
beforeEach(() => world.renew());

/** An export that contains only these rows, and whose X-Export-Rows agrees. */
const exportOnly =
  (keep: (row: string, place: number) => boolean): Intercept =>
  async (request, next) => {
    const answer = await next(request);
    if (new URL(request.url).pathname !== '/api/v1/export') return answer;
    const rows = (await answer.text()).split('\n').filter((row) => row !== '');
    const kept = rows.filter(keep);
    const headers = { 'content-type': answer.headers.get('content-type') ?? '', 'X-Export-Rows': String(kept.length) };
    return new Response(kept.join('\n'), { headers });
  };

const HALVED: [string, (row: string, place: number) => boolean][] = [
  ['is empty', () => false],
  ['has every second row', (_row, place) => place % 2 === 0],
];

describe('an export whose headers agree, although /items counts more items', () => {
  test.each(HALVED)(
    'and that %s is not a copy: pages return the other items, and no item is marked as gone',
    async (_how, keep) => {
      for (const lake of [undefined, copied]) {
        world.renew(lake);
        world.pipeline.source.mode = 'snapshot';
        world.intercept = exportOnly(keep);
        expect((await world.sync()).row).toMatchObject({ gone: 0n, caught_up: true, items: 120n });
        expect(listExports(world)).toHaveLength(1);
        await expectExactCopy(world);
      }
    },
  );

  test("isn't requested in every attempt if the calls can't cover the pages, and the lake stays unchanged", async () => {
    world.renew(copied);
    world.pipeline.source.mode = 'snapshot';
    world.pipeline.budget.calls = { count: (await countUsed(world)) + 45 };
    world.intercept = exportOnly(() => false);
    const error = await failure(world.sync());
    expect([error.code, exitCodeOf(error)]).toEqual(['snapshot_incomplete', 75]);
    expect(error.message).toContain('/export: 0 rows arrived, but /items counts 120');
    for (let tries = 0; tries < 3; tries++) await failure(world.sync());
    expect(listExports(world)).toHaveLength(2);
    await expectExactCopy(world);
  });
});

/** `/items` returns and counts nothing, and exports have no rows. */
const countNothing: Intercept = (request, next) => {
  const hideItems = changeText(/\/items$/, (text) => {
    return JSON.stringify({ ...(JSON.parse(text) as object), content: [], totalElements: 0, totalPages: 0 });
  });
  return exportOnly(() => false)(request, (asked) => hideItems(asked, next) ?? next(asked));
};

describe('an empty complete copy, although /facets counts items,', () => {
  test("marks nothing as gone, and the lake isn't caught up until a later run", async () => {
    for (const lake of [copied, undefined]) {
      world.renew(lake);
      world.pipeline.source.mode = 'snapshot';
      world.pipeline.proof.facets = true;
      world.intercept = countNothing;
      const { row } = await world.sync();
      expect(row).toMatchObject({ gone: 0n, caught_up: false });
      expect(row.reason).toContain('the copy is incomplete: it lists 0 of ');
      expect(row.reason).toContain('that /facets counts');
      if (lake !== undefined) await expectExactCopy(world);
      world.intercept = undefined;
      world.pipeline.source.mode = 'auto';
      expect((await world.sync()).row).toMatchObject({ caught_up: true, listing_unknown: 0n });
      await expectExactCopy(world);
    }
  });
});

describe('a copy that lacks a few known items', () => {
  test('keeps items that the service still returns by id, and marks the others as gone', async () => {
    world.renew(copied);
    world.pipeline.source.mode = 'snapshot';
    world.intercept = exportOnly((_row, place) => place > 1);
    world.requests.length = 0;
    expect((await world.sync()).row).toMatchObject({ gone: 0n, caught_up: true });
    expect(world.requests.filter((request) => /^\/items\/\d+$/.test(request))).toHaveLength(2);
    await expectExactCopy(world);
  });

  test('leaves removed items as they are if exports omit them', async () => {
    world.renew(copied);
    world.pipeline.source.mode = 'snapshot';
    world.intercept = exportOnly((row) => (JSON.parse(row) as { removedAt: unknown }).removedAt === null);
    const { row } = await world.sync();
    expect(row).toMatchObject({ gone: 0n });
    await expectExactCopy(world);
  });
});

test('a removal time at the start of the year 1 or 1970 is read as null', async () => {
  for (const zero of ['0001-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z']) {
    world.renew();
    world.intercept = changeText(/\/(export|items.*)$/, (text) =>
      text.replaceAll('"removedAt":null', `"removedAt":"${zero}"`),
    );
    expect((await world.sync()).row).toMatchObject({ caught_up: true });
    await expectExactCopy(world);
  }
});
