import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorBody } from '../../../src/api/account-contract.js';
import { dataset, facets, itemPage, productPage } from '../../../src/api/contract.js';
import { parse } from '../service.js';
import { AccountWorld, PATHS } from './account-world.js';

const service = await AccountWorld.open();
beforeEach(() => service.reset());
afterAll(() => service.close());

describe('§5 Authentication', () => {
  it.each(PATHS)(
    '%s needs an API key: 401 with an Error body for a missing, an invalid and a revoked key',
    async (path) => {
      service.set({ revoked: ['live'] });
      for (const key of [null, 'sandbox_live_0', service.sandbox.keys.live]) {
        const answer = await service.get(path, key);
        expect(answer.status).toBe(401);
        expect(parse(answer.text, errorBody)).toMatchObject({ status: 401, error: 'Unauthorized' });
      }
    },
  );

  it('a key is accepted only as Bearer in the Authorization header', async () => {
    const { live } = service.sandbox.keys;
    const url = `${service.sandbox.baseUrl}/api/v1/plan`;
    const status = async (headers: Record<string, string>, query = '') =>
      (await fetch(url + query, { headers })).status;
    expect(await status({ authorization: `Bearer ${live}` })).toBe(200);
    expect(await status({ authorization: `Basic ${live}` })).toBe(401);
    expect(await status({ authorization: live })).toBe(401);
    expect(await status({ 'x-api-key': live }, `?api_key=${live}`)).toBe(401);
  });

  it('live keys read the caller’s datasets, test keys only the sample dataset', async () => {
    const names = async (key?: string) =>
      (await service.read('/datasets', z.array(dataset), key)).map(({ name }) => name);
    expect(await names()).not.toContain('Sample');
    expect(await names(service.sandbox.keys.test)).toEqual(['Sample']);
    const page = await service.read('/items?size=500&status=all', itemPage, service.sandbox.keys.test);
    expect(page.content.every(({ datasets }) => datasets.join() === 'Sample')).toBe(true);
  });

  it('each key can be revoked and restored while the service runs', async () => {
    service.set({ revoked: ['test'] });
    expect((await service.get('/plan')).status).toBe(200);
    expect((await service.get('/plan', service.sandbox.keys.test)).status).toBe(401);
    const url = `${service.sandbox.baseUrl}/sandbox/account`;
    await fetch(url, { method: 'POST', body: JSON.stringify({ revoked: ['live'] }) });
    expect((await service.get('/plan')).status).toBe(401);
    expect((await service.get('/plan', service.sandbox.keys.test)).status).toBe(200);
    const refused = await fetch(url, { method: 'POST', body: JSON.stringify({ revoked: ['dead'] }) });
    expect(refused.status).toBe(400);
  });

  it('usage counters cover calls made with API keys; usage is null for an operator’s token', async () => {
    const before = (await service.readAccount()).usage;
    await service.get('/items', service.sandbox.keys.test);
    await service.get('/export', service.sandbox.keys.operator);
    expect((await service.readAccount(service.sandbox.keys.operator)).usage).toBeNull();
    const after = (await service.readAccount()).usage;
    expect(after?.apiCalls).toBe((before?.apiCalls ?? 0n) + 2n);
    expect(after?.exportRows).toBe(before?.exportRows);
  });
});

describe('§2 PlanInfo and §4 /plan', () => {
  it.each(['free', 'trial', 'pro', 'unlimited'] as const)(
    'shows the plan %s, its limits and this month’s use',
    async (plan) => {
      service.set({ plan });
      const answer = JSON.parse((await service.get('/plan')).text);
      expect(answer.plan).toBe(plan);
      expect(answer.status).toBe({ free: null, trial: 'TRIALING', pro: 'ACTIVE', unlimited: 'ACTIVE' }[plan]);
      expect(typeof answer.trialEndsAt).toBe(plan === 'trial' ? 'string' : 'object');
      expect(URL.canParse(answer.upgradeUrl)).toBe(true);
    },
  );

  it('a null limit means unlimited', async () => {
    const { limits } = await service.readAccount();
    expect(limits).toMatchObject({
      datasets: null,
      apiCallsPerMonth: null,
      ratePerSecond: null,
      exportRowsPerMonth: null,
    });
    const { headers } = await service.get('/export');
    expect(headers.has('x-export-rows-remaining')).toBe(false);
  });

  it('both counters start over on the first of next month, 00:00 UTC, which is resetsAt', async () => {
    await service.get('/export');
    const before = (await service.readAccount()).usage;
    expect(before?.exportRows).toBeGreaterThan(0n);
    expect(before?.resetsAt).toMatch(/-01T00:00:00\.000Z$/);
    const hours = (Date.parse(before?.resetsAt ?? '') - (await service.now())) / 3_600_000;
    await service.sandbox.advance({ hours: hours - 1, changes: 0 });
    expect((await service.readAccount()).usage?.exportRows).toBe(before?.exportRows);
    await service.sandbox.advance({ hours: 1, changes: 0 });
    expect((await service.readAccount()).usage).toMatchObject({ apiCalls: 1n, exportRows: 0n });
  });

  it('lists in /datasets only what the plan lets the caller read, and counts the rest as lockedDatasets', async () => {
    service.set({ limits: { datasets: 2 } });
    expect(await service.read('/datasets', z.array(dataset))).toHaveLength(2);
    expect((await service.readAccount()).lockedDatasets).toBe(5);
  });
});

describe('§1 The caller’s plan decides which datasets are visible', () => {
  it('on every endpoint: items, products, facets, changes and exports are only from visible datasets', async () => {
    const readAll = () =>
      Promise.all([
        service.read('/items?size=500', itemPage),
        service.read('/facets', facets),
        service.get('/export?format=ndjson'),
        service.readFeed(),
        service.read('/products?size=200', productPage),
      ]);
    const all = await readAll();
    service.set({ limits: { datasets: 1 } });
    const [items, found, rows, changes, products] = await readAll();
    const [own] = await service.read('/datasets', z.array(dataset));
    expect(items.content.every(({ datasets }) => datasets.join() === own?.name)).toBe(true);
    expect(items.totalElements).toBe(own?.items);
    expect(found.sites.reduce((sum, site) => sum + site.items, 0n)).toBe(own?.items);
    expect(rows.headers.get('x-export-rows')).toBe(String(own?.items));
    const visible = await service.read('/items?size=500&status=all', itemPage);
    const ids = new Set(visible.content.map(({ id }) => id));
    expect(changes.every(({ item }) => item === null || ids.has(item.id))).toBe(true);
    expect(changes.length).toBeLessThan(all[3].length);
    const offers = (page: typeof products) => page.content.reduce((sum, one) => sum + one.offers, 0n);
    expect(offers(products)).toBeLessThan(offers(all[4]));
  });
});

describe('§3 Plan status', () => {
  it('the plan in effect is Free once a trial has ended', async () => {
    service.set({ plan: 'trial' });
    const { trialEndsAt } = await service.readAccount();
    expect(await service.readAccount()).toMatchObject({ plan: 'trial', status: 'TRIALING' });
    await service.sandbox.advance({ hours: 24 * 14 - 1, changes: 0 });
    expect(await service.readAccount()).toMatchObject({ plan: 'trial', trialEndsAt });
    await service.sandbox.advance({ hours: 1, changes: 0 });
    expect(await service.readAccount()).toMatchObject({
      plan: 'free',
      trialEndsAt: null,
      limits: { changeFeed: false },
    });
    expect(await service.refusal('/changes', 402)).toMatchObject({ limit: 'changeFeed', plan: 'free' });
  });

  it('a payment overdue for 30 days makes requests answer 402 with the limit paymentOverdue', async () => {
    service.set({ plan: 'pro', overdueDays: 29 });
    expect(await service.readAccount()).toMatchObject({ plan: 'pro', status: 'PAST_DUE' });
    await service.sandbox.advance({ hours: 24, changes: 0 });
    for (const path of PATHS)
      expect(await service.refusal(path, 402)).toMatchObject({ limit: 'paymentOverdue', plan: 'pro' });
    service.set({ overdueDays: null });
    expect(await service.readAccount()).toMatchObject({ status: 'ACTIVE' });
    expect(() => service.set({ plan: 'free', overdueDays: 3 })).toThrow('free');
  });
});
