import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { dataset, errorBody, itemPage, limitErrorBody, planInfo } from '../../src/api/contract.js';
import { parse, Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

describe('authentication', () => {
  it('answers 401 without a key, and with one that nobody has', async () => {
    for (const key of [null, 'wrong']) {
      const answer = await service.get('/plan', key);
      expect(answer.status).toBe(401);
      expect(parse(answer.text, errorBody)).toMatchObject({ status: 401, error: 'Unauthorized' });
    }
  });

  it('shows a test key the sample dataset alone', async () => {
    const { test } = service.sandbox.keys;
    const datasets = await service.read('/datasets', z.array(dataset), test);
    expect(datasets.map(({ name }) => name)).toEqual(['Sample']);
    const page = await service.read('/items?status=all&size=500', itemPage, test);
    expect(page.content.length).toBeGreaterThan(20);
    expect(page.content.length).toBeLessThan(400);
    expect(page.content.every((one) => one.datasets.join() === 'Sample')).toBe(true);
    const all = await service.read('/items?size=1', itemPage);
    expect((await service.get(`/items/${all.content[0]?.id}`)).status).toBe(200);
    const outside = (await service.sandbox.dump()).items.map((line) => /\d+/.exec(line)?.[0] ?? '');
    const visible = new Set(page.content.map(({ id }) => String(id)));
    const hidden = outside.find((id) => !visible.has(id));
    expect((await service.get(`/items/${hidden}`, test)).status).toBe(404);
  });

  it('gives the same keys for the same seed', async () => {
    const other = await Service.start({ items: 10 });
    expect(other.sandbox.keys).toEqual(service.sandbox.keys);
    await other.close();
  });
});

describe('limits', () => {
  it('carries RateLimit and X-Quota headers on every answer', async () => {
    const own = await Service.start({ items: 30, ratePerSecond: 1000 });
    for (const path of ['/plan', '/items/1', '/items?size=0', '/nothing', '/export']) {
      const { headers } = await own.get(path);
      expect(headers.get('ratelimit-limit')).toBe('1000');
      expect(Number(headers.get('x-quota-api-calls-remaining'))).toBeGreaterThan(0);
    }
    expect((await own.get('/plan', null)).headers.has('ratelimit-remaining')).toBe(true);
    await own.close();
  });

  it('answers 429 ratePerSecond with Retry-After, in wall time', async () => {
    const slow = await Service.start({ items: 30, ratePerSecond: 3 });
    const statuses = [];
    for (let k = 0; k < 5; k++) statuses.push((await slow.get('/plan')).status);
    expect(statuses.slice(0, 3)).toEqual([200, 200, 200]);
    expect(statuses).toContain(429);
    const refused = await slow.get('/plan');
    expect(parse(refused.text, limitErrorBody)).toMatchObject({ limit: 'ratePerSecond', allowed: 3, plan: 'pro' });
    expect(refused.headers.get('retry-after')).toBe('1');
    await new Promise((resolve) => setTimeout(resolve, 1050));
    expect((await slow.get('/plan')).status).toBe(200);
    await slow.close();
  });

  it('answers 429 apiCallsPerMonth when the month is used up, until the next one', async () => {
    const own = await Service.start({ items: 30, limits: { apiCallsPerMonth: 2 } });
    await own.get('/plan');
    await own.get('/plan');
    const refused = await own.get('/plan');
    expect(refused.status).toBe(429);
    expect(parse(refused.text, limitErrorBody)).toMatchObject({ limit: 'apiCallsPerMonth', allowed: 2 });
    expect(Number(refused.headers.get('retry-after'))).toBe(10 * 86_400 + 18 * 3600);
    await own.sandbox.advance({ hours: 11 * 24, changes: 0 });
    expect((await own.get('/plan')).status).toBe(200);
    await own.close();
  });

  it('locks datasets beyond the plan: 402, and their items are out of sight', async () => {
    const trial = await Service.start({ plan: 'trial' });
    expect(await trial.read('/plan', planInfo)).toMatchObject({ plan: 'trial', status: 'TRIALING', lockedDatasets: 4 });
    expect(await trial.read('/datasets', z.array(dataset))).toHaveLength(3);
    const locked = (await service.read('/datasets', z.array(dataset)))[4];
    const refused = await trial.get(`/items?dataset=${locked?.id}`);
    expect(refused.status).toBe(402);
    expect(parse(refused.text, limitErrorBody)).toMatchObject({ limit: 'datasets', allowed: 3, plan: 'trial' });
    const page = await trial.read('/items?size=500&status=all', itemPage);
    expect(page.totalElements).toBeLessThan(1500n);
    expect(page.content.some((one) => one.datasets.includes(locked?.name ?? ''))).toBe(false);
    await trial.close();
  });

  it('falls back to Free once the trial has ended', async () => {
    const trial = await Service.start({ plan: 'trial', items: 100 });
    expect((await trial.read('/plan', planInfo)).trialEndsAt).toBe('2026-12-04T06:00:00.000Z');
    await trial.sandbox.advance({ hours: 24 * 15, changes: 5 });
    expect(await trial.read('/plan', planInfo)).toMatchObject({ plan: 'free', status: 'CANCELED', trialEndsAt: null });
    expect((await trial.get('/changes')).status).toBe(402);
    await trial.close();
  });

  it('answers 404 with an Error body for what is no endpoint', async () => {
    const answer = await service.get('/nothing');
    expect(parse(answer.text, errorBody)).toMatchObject({ status: 404, error: 'Not Found' });
  });
});
