import { parse, stringify } from 'lossless-json';
import { afterEach, describe, expect, test } from 'vitest';
import { expectExactCopy } from './exact-copy.js';
import { openWorld, type World, type WorldOptions } from './world.js';

let world: World;
afterEach(() => world.close());

const FREE: WorldOptions = {
  items: 1_050,
  sites: 4,
  plan: 'free',
  limits: { datasets: null, delayHours: 0, exportRowsPerMonth: 200 },
};

async function openFree(options: WorldOptions = {}): Promise<void> {
  world = await openWorld({ ...FREE, ...options, limits: { ...FREE.limits, ...options.limits } });
  world.pipeline.proof = { sample: 0, products: false, facets: false };
}

const asked = (path: string) => world.requests.filter((request) => request.startsWith(path));
const pagesAsked = () => asked('/items?').filter((request) => request.includes('size=500'));

/** Hides the plan's quota, so that nothing shows that an export will be truncated. */
async function hideQuota(request: Request, next: (request: Request) => Promise<Response>): Promise<Response> {
  const plan = parse(await (await next(request)).text()) as { limits: object };
  const body = stringify({ ...plan, limits: { ...plan.limits, exportRowsPerMonth: null } });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}

describe('a copy page by page', () => {
  test('replaces an export that the plan would truncate', async () => {
    await openFree();
    const { row } = await world.sync();
    await expectExactCopy(world);
    expect(asked('/export')).toEqual([]);
    expect(pagesAsked()).toHaveLength(Math.ceil(Number(row.items) / 500) + 1); // the last tells that nothing moved
    expect(row).toMatchObject({ mode: 'snapshot', export_rows: 0n });
    expect(row.received).toBe(row.written + row.rejected + row.deduplicated);
  });

  test('misses no item that changes while the pages are read', async () => {
    let pages = 0;
    await openFree({
      intercept: async (request, next) => {
        const isPage = request.url.includes('size=500');
        if (isPage && pages++ > 0) await world.sandbox.advance({ hours: 2, changes: 60 });
        return next(request);
      },
    });
    await world.sync();
    expect(pages).toBeGreaterThan(3);
    await expectExactCopy(world);
  });

  test('that contains fewer items than counted is read again, and refused if they stay missing', async () => {
    let hidden = 1;
    const hideItem = async (request: Request, next: (request: Request) => Promise<Response>) => {
      const page = parse(await (await next(request)).text()) as { content: object[] };
      const body = stringify({ ...page, content: page.content.slice(1) });
      return new Response(body, { headers: { 'content-type': 'application/json' } });
    };
    await openFree({
      intercept: (request, next) =>
        request.url.includes('size=500&page=1') && hidden-- > 0 ? hideItem(request, next) : undefined,
    });
    hidden = 2;
    await expect(world.sync()).rejects.toMatchObject({
      code: 'snapshot_incomplete',
      message: expect.stringMatching(/^\/items: the pages contain \d+ different items, but the service counts \d+$/),
    });
    await world.sync();
    await expectExactCopy(world);
  });

  test("continues after the month's calls were used up, and requests no page twice", async () => {
    await openFree({ items: 1_600, faults: ['items:429=apiCallsPerMonth@5-'] });
    await expect(world.sync()).rejects.toMatchObject({ code: 'quota', facts: { nextRunAt: expect.any(Date) } });
    const before = pagesAsked().slice(0, 3);
    expect(before.map((request) => /page=\d+/.exec(request)?.[0])).toEqual(['page=0', 'page=1', 'page=2']);
    world.sandbox.armFaults([]);
    world.requests.length = 0;
    await world.sandbox.advance({ hours: 30, changes: 100 });
    await world.sync();
    expect(pagesAsked().filter((request) => before.includes(request))).toEqual([]);
    await expectExactCopy(world);
  });
});

describe('an export that the service truncates', () => {
  const intercept: NonNullable<WorldOptions['intercept']> = (request, next) =>
    request.url.endsWith('/plan') ? hideQuota(request, next) : undefined;

  test('is kept, and pages add the rest', async () => {
    await openFree({ intercept });
    const { row } = await world.sync();
    await expectExactCopy(world);
    expect(asked('/export')).toHaveLength(1);
    expect(row).toMatchObject({ export_rows: 200n, export_rows_landed: 200n });
    expect(row.received).toBe(row.written + row.rejected + row.deduplicated);
    expect(row.deduplicated).toBeGreaterThanOrEqual(200n);
  });

  test("is kept if the calls don't suffice, until a run can read the pages", async () => {
    await openFree({ intercept });
    world.pipeline.budget.calls = { count: 30 };
    await expect(world.sync()).rejects.toMatchObject({ code: 'quota', facts: { nextRunAt: expect.any(Date) } });
    world.pipeline.budget.calls = { count: 500 };
    world.pipeline.budget.exportRows = { count: 200 };
    const { row } = await world.sync();
    await expectExactCopy(world);
    expect(asked('/export')).toHaveLength(1);
    expect(row).toMatchObject({ tries: 2n, export_rows: 200n, export_rows_landed: 200n, export_rows_lost: 0n });
  });

  test('is kept with the complete exports of other websites, which also count in later attempts', async () => {
    let isShut = true;
    await openFree({
      limits: { exportRowsPerMonth: 500 },
      intercept: (request, next) => {
        const isPage = request.url.includes('size=500');
        return isPage && isShut ? Promise.resolve(new Response('{}', { status: 403 })) : intercept(request, next);
      },
    });
    world.pipeline.source.splitAbove = 300;
    await expect(world.sync()).rejects.toThrow();
    const exports = asked('/export').length;
    expect(exports).toBeGreaterThan(1);
    isShut = false;
    world.pipeline.budget.exportRows = { count: 500 };
    const { row } = await world.sync();
    await expectExactCopy(world);
    expect(asked('/export')).toHaveLength(exports);
    expect(row).toMatchObject({ tries: 2n, export_rows_landed: 500n });
    expect(row.received).toBe(row.written + row.rejected + row.deduplicated);
  });
});
