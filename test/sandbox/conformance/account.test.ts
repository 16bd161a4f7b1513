import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { dataset, errorBody, item, itemPage, limitErrorBody, planInfo } from '../../../src/api/contract.js';
import type { AccountChange } from '../../../src/sandbox/http/account.js';
import { parse, Service } from '../service.js';

const UNLIMITED: AccountChange = { plan: 'unlimited', limits: {}, overage: true, revoked: [], overdueDays: null };
let service: Service;
beforeAll(async () => {
  service = await Service.start({ items: 200, plan: 'unlimited' });
});
beforeEach(() => service.sandbox.changeAccount(UNLIMITED));
afterAll(() => service.close());

/** Changes the account; requests a second stay free unless a test is about them. */
function set(change: AccountChange): void {
  service.sandbox.changeAccount({ ...change, limits: { ratePerSecond: null, ...change.limits } });
}

const nextMonth = () => service.sandbox.advance({ hours: 24 * 31, changes: 0 });
const readPlan = (key?: string) => service.read('/plan', planInfo, key);

async function refusal(path: string, status: number, key?: string) {
  const answer = await service.get(path, key);
  expect(answer.status).toBe(status);
  return { ...parse(answer.text, limitErrorBody), retryAfter: answer.headers.get('retry-after') };
}

const PATHS = [
  '/datasets',
  '/facets',
  '/items',
  '/items/1',
  '/items/1/history',
  '/changes',
  '/changes/recent',
  '/products',
  '/products/1',
  '/export',
  '/plan',
];

describe('§5 Authentication', () => {
  it.each(PATHS)('%s needs an API key: 401 with an Error body for none, an invalid and a revoked one', async (path) => {
    set({ revoked: ['live'] });
    for (const key of [null, 'sandbox_live_0', service.sandbox.keys.live]) {
      const answer = await service.get(path, key);
      expect(answer.status).toBe(401);
      expect(parse(answer.text, errorBody)).toMatchObject({ status: 401, error: 'Unauthorized' });
    }
  });

  it('a key goes into the header Authorization as Bearer, nowhere else', async () => {
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

  it('a key can be revoked and given back while the service runs, each on its own', async () => {
    set({ revoked: ['test'] });
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
    const before = (await readPlan()).usage;
    await service.get('/items', service.sandbox.keys.test);
    await service.get('/export', service.sandbox.keys.operator);
    expect((await readPlan(service.sandbox.keys.operator)).usage).toBeNull();
    const after = (await readPlan()).usage;
    expect(after?.apiCalls).toBe((before?.apiCalls ?? 0n) + 2n);
    expect(after?.exportRows).toBe(before?.exportRows);
  });
});

describe('§2 PlanInfo and §4 /plan', () => {
  it.each(['free', 'trial', 'pro', 'unlimited'] as const)(
    'shows the plan %s, its limits and this month’s use',
    async (plan) => {
      set({ plan });
      const answer = JSON.parse((await service.get('/plan')).text);
      expect(Object.keys(answer)).toEqual([
        ...['plan', 'name', 'status', 'trialEndsAt', 'limits', 'lockedDatasets', 'upgradeUrl', 'usage'],
      ]);
      expect(Object.keys(answer.usage)).toEqual(['apiCalls', 'exportRows', 'resetsAt']);
      expect(answer.plan).toBe(plan);
      expect(answer.status).toBe({ free: null, trial: 'TRIALING', pro: 'ACTIVE', unlimited: 'ACTIVE' }[plan]);
      expect(typeof answer.trialEndsAt).toBe(plan === 'trial' ? 'string' : 'object');
      expect(URL.canParse(answer.upgradeUrl)).toBe(true);
    },
  );

  it('a null limit means unlimited', async () => {
    const { limits } = await readPlan();
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
    const before = (await readPlan()).usage;
    expect(before?.exportRows).toBeGreaterThan(0n);
    expect(before?.resetsAt).toMatch(/-01T00:00:00\.000Z$/);
    const state = (await (await fetch(`${service.sandbox.baseUrl}/sandbox`)).json()) as { now: string };
    const hours = (Date.parse(before?.resetsAt ?? '') - Date.parse(state.now)) / 3_600_000;
    await service.sandbox.advance({ hours: hours - 1, changes: 0 });
    expect((await readPlan()).usage?.exportRows).toBe(before?.exportRows);
    await service.sandbox.advance({ hours: 1, changes: 0 });
    expect((await readPlan()).usage).toMatchObject({ apiCalls: 1n, exportRows: 0n });
  });

  it('lists in /datasets only what the plan lets the caller read, and counts the rest as lockedDatasets', async () => {
    set({ limits: { datasets: 2 } });
    expect(await service.read('/datasets', z.array(dataset))).toHaveLength(2);
    expect((await readPlan()).lockedDatasets).toBe(5);
  });
});

describe('§3 Plan status', () => {
  it('the plan in effect is Free once a trial has ended', async () => {
    set({ plan: 'trial' });
    const { trialEndsAt } = await readPlan();
    expect(await readPlan()).toMatchObject({ plan: 'trial', status: 'TRIALING' });
    await service.sandbox.advance({ hours: 24 * 14 - 1, changes: 0 });
    expect(await readPlan()).toMatchObject({ plan: 'trial', trialEndsAt });
    await service.sandbox.advance({ hours: 1, changes: 0 });
    expect(await readPlan()).toMatchObject({ plan: 'free', trialEndsAt: null });
    expect(await refusal('/changes', 402)).toMatchObject({ limit: 'changeFeed', plan: 'free' });
  });

  it('a payment overdue for 30 days makes requests answer 402 with the limit paymentOverdue', async () => {
    set({ plan: 'pro', overdueDays: 29 });
    expect(await readPlan()).toMatchObject({ plan: 'pro', status: 'PAST_DUE' });
    await service.sandbox.advance({ hours: 24, changes: 0 });
    for (const path of PATHS) expect(await refusal(path, 402)).toMatchObject({ limit: 'paymentOverdue', plan: 'pro' });
    set({ overdueDays: null });
    expect(await readPlan()).toMatchObject({ status: 'ACTIVE' });
    expect(() => set({ plan: 'free', overdueDays: 3 })).toThrow('free');
  });
});

describe('§7 Errors', () => {
  it('404 with an Error body for what is no endpoint', async () => {
    expect(parse((await service.get('/nothing')).text, errorBody)).toMatchObject({ status: 404, error: 'Not Found' });
  });

  it('an Error has status, error, message and docsUrl', async () => {
    const answers = [
      await service.get('/items?size=0'),
      await service.get('/plan', null),
      await service.get('/items/1'),
    ];
    for (const { status, text, headers } of answers) {
      const body = JSON.parse(text);
      expect(Object.keys(body)).toEqual(['status', 'error', 'message', 'docsUrl']);
      expect(body.status).toBe(status);
      expect(URL.canParse(body.docsUrl)).toBe(true);
      expect(headers.get('content-type')).toContain('application/json');
    }
  });

  it('a Limit error has limit, allowed, plan and upgradeUrl as well', async () => {
    set({ limits: { changeFeed: false } });
    const body = JSON.parse((await service.get('/changes')).text);
    expect(Object.keys(body)).toEqual([
      ...['status', 'error', 'message', 'docsUrl', 'limit', 'allowed', 'plan', 'upgradeUrl'],
    ]);
    expect(body).toMatchObject({ status: 402, limit: 'changeFeed', allowed: false, plan: 'unlimited' });
  });

  it('402 datasets: a dataset beyond the plan, on every endpoint that takes one', async () => {
    const last = (await service.read('/datasets', z.array(dataset))).at(-1)?.id;
    const [one] = (await service.read(`/items?dataset=${last}&size=1`, itemPage)).content;
    set({ limits: { datasets: 1 } });
    for (const path of ['/facets', '/items', '/changes', '/changes/recent', '/products', '/products/1', '/export']) {
      expect(await refusal(`${path}?dataset=${last}`, 402)).toMatchObject({ limit: 'datasets', allowed: 1 });
    }
    expect(one).toBeDefined();
  });

  it('404: items beyond the plan’s datasets are not among those the caller can see', async () => {
    const all = await service.read('/items?size=500&status=all', itemPage);
    set({ limits: { datasets: 1 } });
    const seen = await service.read('/items?size=500&status=all', itemPage);
    expect(seen.totalElements).toBeLessThan(all.totalElements);
    const visible = new Set(seen.content.map(({ id }) => id));
    const hidden = all.content.find(({ id }) => !visible.has(id))?.id;
    for (const path of [`/items/${hidden}`, `/items/${hidden}/history`])
      expect((await service.get(path)).status).toBe(404);
  });

  it('429 apiCallsPerMonth: the month’s calls used up, until the next month', async () => {
    await nextMonth();
    set({ limits: { apiCallsPerMonth: 2 } });
    expect([(await service.get('/plan')).status, (await service.get('/items')).status]).toEqual([200, 200]);
    const { limit, allowed, retryAfter } = await refusal('/plan', 429);
    expect({ limit, allowed }).toEqual({ limit: 'apiCallsPerMonth', allowed: 2 });
    expect(Number(retryAfter)).toBeGreaterThan(3600);
    expect((await service.get('/plan', service.sandbox.keys.operator)).status).toBe(200);
    await service.sandbox.advance({ hours: Math.ceil(Number(retryAfter) / 3600), changes: 0 });
    expect((await service.get('/plan')).status).toBe(200);
  });

  it('429 ratePerSecond: too many requests per second, and Retry-After says when to try again', async () => {
    set({ limits: { ratePerSecond: 3 } });
    const statuses = [];
    for (let k = 0; k < 5; k++) statuses.push((await service.get('/plan')).status);
    expect(statuses.slice(0, 3)).toEqual([200, 200, 200]);
    expect(statuses).toContain(429);
    const { limit, allowed, retryAfter } = await refusal('/items', 429);
    expect({ limit, allowed, retryAfter }).toEqual({ limit: 'ratePerSecond', allowed: 3, retryAfter: '1' });
    await new Promise((resolve) => setTimeout(resolve, 1020));
    expect((await service.get('/plan')).status).toBe(200);
  });
});

describe('§8 Limits', () => {
  it('limits of PlanInfo are carried by name', async () => {
    expect(Object.keys((await readPlan()).limits)).toEqual([
      ...['datasets', 'apiCallsPerMonth', 'ratePerSecond', 'exportRowsPerMonth'],
      ...['historyDays', 'changeFeed', 'webhooks', 'delayHours'],
    ]);
  });

  it('every answer carries RateLimit-* and X-Quota-* headers, whatever its status', async () => {
    set({ plan: 'pro' });
    const answers = [
      ...(await Promise.all(PATHS.map((path) => service.get(path)))),
      await service.get('/items?size=0'),
      await service.get('/nothing'),
      await service.get('/plan', null),
    ];
    set({ limits: { apiCallsPerMonth: 0 } });
    answers.push(await service.get('/plan'));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400, 401, 404, 429]));
    for (const { headers } of answers) {
      const names = [...headers.keys()];
      expect(names.some((name) => name.startsWith('ratelimit-'))).toBe(true);
      expect(names.some((name) => name.startsWith('x-quota-'))).toBe(true);
    }
  });

  it('exportRowsPerMonth: on paid plans rows beyond it are billed, the export is whole, X-Export-Overage is set', async () => {
    await nextMonth();
    set({ plan: 'pro', limits: { exportRowsPerMonth: 60 } });
    const small = await service.get('/export?format=ndjson&currency=PLN');
    const used = Number(small.headers.get('x-export-rows'));
    expect(small.headers.get('x-export-rows-remaining')).toBe(String(60 - used));
    expect(small.headers.has('x-export-overage')).toBe(false);
    const { headers, text } = await service.get('/export?format=ndjson&status=all');
    expect(headers.get('x-export-overage')).toBe('true');
    expect(headers.has('x-export-truncated')).toBe(false);
    expect(headers.get('x-export-rows-remaining')).toBe('0');
    expect(text.trimEnd().split('\n')).toHaveLength(200);
    expect((await readPlan()).usage?.exportRows).toBe(BigInt(200 + used));
  });

  it.each([
    ['Free', { plan: 'free' }],
    ['a trial', { plan: 'trial', overage: true }],
    ['overage switched off', { plan: 'pro', overage: false }],
  ] as [string, AccountChange][])(
    'with %s an export that would pass the quota ends at the limit',
    async (_, change) => {
      await nextMonth();
      set({ ...change, limits: { exportRowsPerMonth: 25, datasets: null } });
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
    const state = (await (await fetch(`${service.sandbox.baseUrl}/sandbox`)).json()) as { now: string };
    const since = new Date(Date.parse(state.now) - 86_400_000).toISOString();
    set({ limits: { historyDays: 1 } });
    const some = await readTimes();
    expect(some).toEqual(all.filter((time) => Date.parse(time) > Date.parse(since)));
    expect(some.length).toBe(10);
    const history = JSON.parse((await service.get(`/items/${one?.id}/history`)).text) as { observedAt: string }[];
    expect(history.every(({ observedAt }) => Date.parse(observedAt) > Date.parse(since))).toBe(true);
    expect((await service.read(`/items/${one?.id}`, item)).id).toBe(one?.id);
  });

  it('changeFeed: false on Free, where /changes answers 402; /changes/recent is for everybody', async () => {
    set({ plan: 'free' });
    expect((await readPlan()).limits.changeFeed).toBe(false);
    expect(await refusal('/changes', 402)).toMatchObject({ limit: 'changeFeed', allowed: false });
    expect((await service.get('/changes/recent')).status).toBe(200);
  });
});
