import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorBody } from '../../../src/api/account-contract.js';
import { dataset, item, itemPage } from '../../../src/api/contract.js';
import type { AccountChange } from '../../../src/sandbox/http/account.js';
import { parse } from '../service.js';
import { AccountWorld, PATHS } from './account-world.js';

const service = await AccountWorld.open();
beforeEach(() => service.reset());
afterAll(() => service.close());

describe('§7 Errors', () => {
  it('404 with an Error body for an unknown endpoint', async () => {
    expect(parse((await service.get('/nothing')).text, errorBody)).toMatchObject({ status: 404, error: 'Not Found' });
  });

  it('402 datasets: for a dataset beyond the plan, on every endpoint with this parameter', async () => {
    const last = (await service.read('/datasets', z.array(dataset))).at(-1)?.id;
    const [one] = (await service.read(`/items?dataset=${last}&size=1`, itemPage)).content;
    service.set({ limits: { datasets: 1 } });
    for (const path of ['/facets', '/items', '/changes', '/changes/recent', '/products', '/products/1', '/export']) {
      expect(await service.refusal(`${path}?dataset=${last}`, 402)).toMatchObject({ limit: 'datasets', allowed: 1 });
    }
    expect(one).toBeDefined();
  });

  it('404: items beyond the plan’s datasets are not visible to the caller', async () => {
    const all = await service.read('/items?size=500&status=all', itemPage);
    service.set({ limits: { datasets: 1 } });
    const seen = await service.read('/items?size=500&status=all', itemPage);
    expect(seen.totalElements).toBeLessThan(all.totalElements);
    const visible = new Set(seen.content.map(({ id }) => id));
    const hidden = all.content.find(({ id }) => !visible.has(id))?.id;
    for (const path of [`/items/${hidden}`, `/items/${hidden}/history`])
      expect((await service.get(path)).status).toBe(404);
  });

  it('429 apiCallsPerMonth: when the month’s calls are used up, until the next month', async () => {
    await service.sandbox.advance({ hours: 24 * 31, changes: 0 });
    service.set({ limits: { apiCallsPerMonth: 2 } });
    expect([(await service.get('/plan')).status, (await service.get('/items')).status]).toEqual([200, 200]);
    const { limit, allowed, retryAfter } = await service.refusal('/plan', 429);
    expect({ limit, allowed }).toEqual({ limit: 'apiCallsPerMonth', allowed: 2 });
    expect(Number(retryAfter)).toBeGreaterThan(3600);
    expect((await service.get('/plan', service.sandbox.keys.operator)).status).toBe(200);
    await service.sandbox.advance({ hours: Math.ceil(Number(retryAfter) / 3600), changes: 0 });
    expect((await service.get('/plan')).status).toBe(200);
  });

  it.each(PATHS)('%s returns 429 once the month’s calls are used up', async (path) => {
    service.set({ limits: { apiCallsPerMonth: 0 } });
    expect(await service.refusal(path, 429)).toMatchObject({ limit: 'apiCallsPerMonth', allowed: 0 });
  });

  it('429 ratePerSecond: for too many requests per second, with Retry-After', async () => {
    service.set({ limits: { ratePerSecond: 3 } });
    const statuses = [];
    for (let k = 0; k < 5; k++) statuses.push((await service.get('/plan')).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const { limit, allowed, retryAfter } = await service.refusal('/items', 429);
    expect({ limit, allowed, retryAfter }).toEqual({ limit: 'ratePerSecond', allowed: 3, retryAfter: '1' });
    service.passSecond();
    expect((await service.get('/plan')).status).toBe(200);
  });
});

describe('§8 Limits', () => {
  it('PlanInfo contains the limits by name', async () => {
    expect(Object.keys((await service.readAccount()).limits)).toEqual([
      ...['datasets', 'apiCallsPerMonth', 'ratePerSecond', 'exportRowsPerMonth'],
      ...['historyDays', 'changeFeed', 'webhooks', 'delayHours'],
    ]);
  });

  it('every response has RateLimit-* and X-Quota-* headers, whatever its status', async () => {
    service.set({ plan: 'pro' });
    const answers = [
      ...(await Promise.all(PATHS.map((path) => service.get(path)))),
      await service.get('/items?size=0'),
      await service.get('/nothing'),
      await service.get('/plan', null),
    ];
    service.set({ limits: { apiCallsPerMonth: 0 } });
    answers.push(await service.get('/plan'));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400, 401, 404, 429]));
    for (const { headers } of answers) {
      const names = [...headers.keys()];
      expect(names.some((name) => name.startsWith('ratelimit-'))).toBe(true);
      expect(names.some((name) => name.startsWith('x-quota-'))).toBe(true);
    }
  });

  it('exportRowsPerMonth: a paid plan gets the whole export, is billed for more rows, and gets X-Export-Overage', async () => {
    await service.sandbox.advance({ hours: 24 * 31, changes: 0 });
    service.set({ plan: 'pro', limits: { exportRowsPerMonth: 120 } });
    const small = await service.get('/export?format=ndjson&currency=PLN');
    const used = Number(small.headers.get('x-export-rows'));
    expect(small.headers.get('x-export-rows-remaining')).toBe(String(120 - used));
    expect(small.headers.has('x-export-overage')).toBe(false);
    const { headers, text } = await service.get('/export?format=ndjson&status=all');
    expect(headers.get('x-export-overage')).toBe('true');
    expect(headers.has('x-export-truncated')).toBe(false);
    expect(headers.get('x-export-rows-remaining')).toBe('0');
    expect(text.trimEnd().split('\n')).toHaveLength(200);
    expect((await service.readAccount()).usage?.exportRows).toBe(BigInt(200 + used));
  });

  it.each([
    ['Free', { plan: 'free' }],
    ['a trial', { plan: 'trial', overage: true }],
    ['overage switched off', { plan: 'pro', overage: false }],
  ] as [string, AccountChange][])(
    'with %s, an export that would exceed the quota ends at the limit',
    async (_, change) => {
      await service.sandbox.advance({ hours: 24 * 31, changes: 0 });
      service.set({ ...change, limits: { exportRowsPerMonth: 25, datasets: null } });
      const { headers, text } = await service.get('/export?format=ndjson&status=all');
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-export-rows': '25',
        'x-export-truncated': 'true',
        'x-export-matching': '200',
        'x-export-rows-remaining': '0',
      });
      expect(headers.has('x-export-overage')).toBe(false);
      expect(text.trimEnd().split('\n')).toHaveLength(25);
    },
  );

  it('historyDays: item history and the feed from after=0 reach back this far', async () => {
    const readTimes = async () => (await service.readFeed()).map(({ observedAt }) => observedAt);
    const [one] = (await service.read('/items?sort=-lastSeen&size=1', itemPage)).content;
    await service.sandbox.advance({ hours: 1, changes: 10 });
    const all = await readTimes();
    const since = new Date((await service.now()) - 86_400_000).toISOString();
    service.set({ limits: { historyDays: 1 } });
    const some = await readTimes();
    expect(some).toEqual(all.filter((time) => Date.parse(time) > Date.parse(since)));
    expect(some.length).toBe(10);
    const history = JSON.parse((await service.get(`/items/${one?.id}/history`)).text) as { observedAt: string }[];
    expect(history.every(({ observedAt }) => Date.parse(observedAt) > Date.parse(since))).toBe(true);
    expect((await service.read(`/items/${one?.id}`, item)).id).toBe(one?.id);
  });

  it('changeFeed is false on Free: /changes returns 402, but everybody can read /changes/recent', async () => {
    service.set({ plan: 'free' });
    expect((await service.readAccount()).limits.changeFeed).toBe(false);
    expect(await service.refusal('/changes', 402)).toMatchObject({ limit: 'changeFeed', allowed: false });
    expect((await service.get('/changes/recent')).status).toBe(200);
  });
});
