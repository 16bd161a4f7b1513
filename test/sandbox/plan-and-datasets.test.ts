import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { dataset, facets, itemPage, planInfo } from '../../src/api/contract.js';
import { Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

describe('GET /plan', () => {
  it('answers a PlanInfo with every limit of section 8', async () => {
    const plan = await service.read('/plan', planInfo);
    expect(plan).toMatchObject({ plan: 'pro', status: 'ACTIVE', trialEndsAt: null, lockedDatasets: 0 });
    expect(Object.keys(plan.limits)).toEqual([
      'datasets',
      'apiCallsPerMonth',
      'ratePerSecond',
      'exportRowsPerMonth',
      'historyDays',
      'changeFeed',
      'webhooks',
      'delayHours',
    ]);
    expect(plan.usage?.resetsAt).toBe('2026-12-01T00:00:00.000Z');
  });

  it('counts each call of either key, and the rows of each export', async () => {
    const before = (await service.read('/plan', planInfo)).usage;
    await service.get('/items', service.sandbox.keys.test);
    const rows = Number((await service.get('/export?format=ndjson')).headers.get('x-export-rows'));
    const after = (await service.read('/plan', planInfo)).usage;
    expect(after?.apiCalls).toBe((before?.apiCalls ?? 0n) + 3n);
    expect(after?.exportRows).toBe((before?.exportRows ?? 0n) + BigInt(rows));
  });

  it('starts both counters over on the first of next month', async () => {
    const own = await Service.start({ items: 50 });
    await own.get('/export');
    await own.sandbox.advance({ hours: 24 * 12, changes: 0 });
    expect((await own.read('/plan', planInfo)).usage).toMatchObject({
      apiCalls: 1n,
      exportRows: 0n,
      resetsAt: '2027-01-01T00:00:00.000Z',
    });
    await own.close();
  });
});

describe('GET /datasets and /facets', () => {
  it('lists datasets whose counts are those of the items', async () => {
    const datasets = await service.read('/datasets', z.array(dataset));
    expect(datasets.length).toBeGreaterThan(3);
    for (const { id, items, models, healthyModels } of datasets) {
      const page = await service.read(`/items?dataset=${id}&size=1`, itemPage);
      expect(page.totalElements).toBe(items);
      expect(healthyModels).toBeLessThanOrEqual(models);
    }
  });

  it('counts the items listed now by website, currency and category, subcategories included', async () => {
    const found = await service.read('/facets', facets);
    expect(found.currencies.map(({ code }) => code)).toEqual(expect.arrayContaining(['EUR', 'PLN', 'CZK', 'SEK']));
    const site = found.sites[0];
    expect((await service.read(`/items?site=${site?.id}&size=1`, itemPage)).totalElements).toBe(site?.items);
    for (const category of found.categories.slice(0, 6)) {
      const page = await service.read(`/items?category=${category.slug}&size=1`, itemPage);
      expect(page.totalElements).toBe(category.items);
    }
    const all = await service.read('/items?size=1', itemPage);
    expect(found.sites.reduce((sum, { items }) => sum + items, 0n)).toBe(all.totalElements);
  });

  it('knows each category by its path, with a parent that is listed too', async () => {
    const { categories } = await service.read('/facets', facets);
    for (const { path, name, parentId } of categories) {
      const parent = categories.find(({ id }) => id === parentId);
      expect(path).toBe(parent === undefined ? name : `${parent.path} > ${name}`);
    }
  });

  it('answers 404 on /facets for a dataset that is not the caller’s', async () => {
    expect((await service.get('/facets?dataset=99')).status).toBe(404);
  });
});
