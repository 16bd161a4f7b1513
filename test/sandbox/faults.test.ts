import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { limitErrorBody } from '../../src/api/account-contract.js';
import { item, itemPage } from '../../src/api/contract.js';
import { PricelakeError } from '../../src/io/errors.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { parse, Service } from './service.js';

const EXPORT = '/export?format=ndjson&status=all';
const service = await Service.start({ items: 300 });
const items = (await service.sandbox.dump()).items;
afterEach(() => service.sandbox.armFaults([]));
afterAll(() => service.close());

function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${service.sandbox.keys.live}` };
  return fetch(`${service.sandbox.baseUrl}/api/v1${path}`, { headers, ...init });
}

/** Returns the part of a body that arrived before it broke off, and how it ended. */
async function readBroken(path: string, init: RequestInit = {}): Promise<{ text: string; end: string }> {
  const response = await request(path, init);
  let text = '';
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      text += Buffer.from(chunk).toString();
    return { text, end: 'complete' };
  } catch (error) {
    return { text, end: (error as Error).name };
  }
}

async function readRows(path: string): Promise<{ rows: string[]; announced: number }> {
  const { text, headers } = await service.get(path);
  return { rows: text.trimEnd().split('\n'), announced: Number(headers.get('x-export-rows')) };
}

describe('a dropped stream', () => {
  it('breaks off once, in the middle of an export’s body', async () => {
    service.sandbox.armFaults(['export:drop@1']);
    const { text, end } = await readBroken(EXPORT);
    expect(end).toBe('TypeError');
    const lines = text.split('\n');
    expect(lines.slice(0, -1)).toEqual(items.slice(0, 150));
    expect(items[150]?.startsWith(lines.at(-1) ?? '')).toBe(true);
    expect((await readBroken(EXPORT)).end).toBe('complete');
  });

  it('can also break off a JSON response, after the requested share of it', async () => {
    const whole = (await service.get('/items?size=100')).text;
    service.sandbox.armFaults(['items:drop=0.25']);
    const { text, end } = await readBroken('/items?size=100');
    expect(end).toBe('TypeError');
    expect(text.length).toBeLessThan(whole.length * 0.3);
    service.sandbox.armFaults(['export:drop=0']);
    expect((await readBroken('/export')).end).toBe('TypeError');
  });
});

it('a stalled stream goes silent in the middle of the body and stays open', async () => {
  service.sandbox.armFaults(['export:stall=0.1']);
  const { body } = await request(EXPORT);
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (text.split('\n').length < 31) text += Buffer.from((await reader.read()).value ?? []).toString();
  const silence = setTimeout(100).then(() => 'silence');
  expect(await Promise.race([reader.read(), silence])).toBe('silence');
  expect(text.split('\n').length).toBe(31);
  await reader.cancel();
});

describe('a response in place of the service’s', () => {
  it('is a proxy’s HTML page with a status of 5xx', async () => {
    service.sandbox.armFaults(['any:html@1', 'plan:html=502@2']);
    for (const status of [503, 502]) {
      const { status: arrived, headers, text } = await service.get('/plan');
      expect(arrived).toBe(status);
      expect(headers.get('content-type')).toContain('text/html');
      expect(headers.has('ratelimit-limit')).toBe(false);
      expect(text).toContain('<html>');
    }
    expect((await service.get('/plan')).status).toBe(200);
  });

  it.each(['datasets', 'changeFeed', 'apiCallsPerMonth', 'ratePerSecond', 'exportRowsPerMonth', 'paymentOverdue'])(
    'is a 402 or 429 error for the limit %s',
    async (limit) => {
      service.sandbox.armFaults([`items:402=${limit}@1`, `items:429=${limit}@2`]);
      const payment = await service.get('/items');
      expect(payment.status).toBe(402);
      expect(parse(payment.text, limitErrorBody)).toMatchObject({ status: 402, limit, plan: 'pro' });
      const requests = await service.get('/items');
      expect(requests.status).toBe(429);
      expect(parse(requests.text, limitErrorBody)).toMatchObject({ limit });
      expect(Number(requests.headers.get('retry-after'))).toBeGreaterThan(limit === 'ratePerSecond' ? 0 : 86_400);
      expect(requests.headers.has('x-quota-reset')).toBe(true);
    },
  );

  it('is a 401 error, as if the key had been revoked', async () => {
    service.sandbox.armFaults(['changes:401@2-']);
    const statuses = [];
    for (let k = 0; k < 4; k++) statuses.push((await service.get('/changes')).status);
    expect(statuses).toEqual([200, 401, 401, 401]);
    expect((await service.get('/plan')).status).toBe(200);
  });

  it('is a redirect to the same host, which then returns the response', async () => {
    service.sandbox.armFaults(['items:redirect']);
    const first = await request('/items?size=3', { redirect: 'manual' });
    expect(first.status).toBe(307);
    expect(new URL(first.headers.get('location') ?? '').origin).toBe(service.sandbox.baseUrl);
    const followed = await request('/items?size=3');
    expect(followed.redirected).toBe(true);
    expect(parse(await followed.text(), itemPage).content).toHaveLength(3);
  });

  it('is a redirect to another host, where a client without its key is refused', async () => {
    service.sandbox.armFaults(['items:redirect=other@1']);
    const first = await request('/items?size=3', { redirect: 'manual' });
    const target = new URL(first.headers.get('location') ?? '');
    expect(target.hostname).toBe('localhost');
    target.hostname = '127.0.0.1';
    expect((await fetch(target)).status).toBe(401);
  });
});

describe('an export with a fault', () => {
  it('announces more or fewer rows than it contains', async () => {
    service.sandbox.armFaults(['export:rows=-2@1', 'export:rows=5@2']);
    for (const announced of [298, 305]) {
      expect(await readRows(EXPORT)).toMatchObject({ announced, rows: { length: 300 } });
    }
  });

  it('contains one malformed line', async () => {
    service.sandbox.armFaults(['export:malformed=7']);
    const { rows } = await readRows(EXPORT);
    expect(() => JSON.parse(rows[6] ?? '')).toThrow();
    expect(rows.toSpliced(6, 1)).toEqual(items.toSpliced(6, 1));
    const csv = await readRows('/export?status=all');
    expect(csv.rows[7]?.split(',')).toHaveLength(3);
  });

  it('contains duplicate rows, and counts them twice', async () => {
    service.sandbox.armFaults(['export:duplicate=3']);
    const { rows, announced } = await readRows(EXPORT);
    expect(announced).toBe(303);
    expect(rows).toEqual([0, 0, 1, 1, 2, 2].map((k) => items[k]).concat(items.slice(3)));
  });

  it('has unknown fields, in NDJSON and CSV', async () => {
    service.sandbox.armFaults(['export:unknown=mood']);
    const { rows } = await readRows(EXPORT);
    expect(rows.every((row) => 'mood' in parse(row, item))).toBe(true);
    expect((await readRows('/export')).rows[0]?.endsWith(',removedAt,mood')).toBe(true);
  });

  it('lacks a field in all rows, in NDJSON and CSV', async () => {
    service.sandbox.armFaults(['export:missing=currency']);
    const { rows } = await readRows(EXPORT);
    expect(rows.some((row) => row.includes('"currency":'))).toBe(false);
    expect(rows.every((row) => /"id":\d{16},/.test(row))).toBe(true);
    const csv = await readRows('/export');
    const header = csv.rows[0]?.split(',') ?? [];
    expect(header).toContain('priceChangedAt');
    expect(header).not.toContain('currency');
  });

  it('mixes two states of a world that changes during the export', async () => {
    const own = await Service.start({ items: 400 });
    const before = (await own.sandbox.dump()).items;
    own.sandbox.armFaults(['export:move=250@1']);
    const { text, headers } = await own.get(EXPORT);
    const rows = text.trimEnd().split('\n');
    const after = (await own.sandbox.dump()).items;
    expect(headers.get('x-export-rows')).toBe('400');
    expect(rows).toEqual([...before.slice(0, 200), ...after.slice(200, 400)]);
    expect(after.slice(0, 400)).not.toEqual(rows);
    expect(before).not.toEqual(rows);
    await own.close();
  });
});

describe('a JSON response with a fault', () => {
  it('can be truncated, contain duplicate entries or unknown fields, or lack fields', async () => {
    service.sandbox.armFaults(['items:malformed@1', 'items:duplicate=2@2', 'items:unknown@3', 'items:missing=price@4']);
    const cut = await service.get('/items?size=5');
    expect(() => JSON.parse(cut.text)).toThrow();
    const twice = await service.read('/items?size=5', itemPage);
    expect(twice.content.map(({ id }) => id)).toHaveLength(7);
    expect(twice.content[0]).toEqual(twice.content[1]);
    const unknown = JSON.parse((await service.get('/items?size=5')).text);
    expect(Object.keys(unknown)).toContain('novelty');
    expect(unknown.content.every((one: object) => 'novelty' in one)).toBe(true);
    const missing = JSON.parse((await service.get('/items?size=5')).text);
    expect(missing.content.some((one: object) => 'price' in one)).toBe(false);
  });

  it('from the feed can repeat its cursor although more changes are waiting', async () => {
    service.sandbox.armFaults(['changes:stale-cursor@2']);
    const first = JSON.parse(
      (await service.get('/changes?limit=10')).text.replace(/"nextCursor":(\d+)/, '"nextCursor":"$1"'),
    );
    const { text } = await service.get(`/changes?limit=10&after=${first.nextCursor}`);
    expect(text).toContain(`"nextCursor":${first.nextCursor}`);
    expect(text).toContain('"hasMore":true');
    expect(JSON.parse(text).changes).toHaveLength(10);
  });

  it('can mix two states, because the world changes between two pages', async () => {
    const own = await Service.start({ items: 200 });
    const first = await own.read('/items?size=100', itemPage);
    own.sandbox.armFaults(['items:move=150@1']);
    const second = await own.read('/items?size=100&page=1', itemPage);
    const ids = new Set(first.content.map(({ id }) => id));
    expect(second.content.some(({ id }) => ids.has(id))).toBe(true);
    await own.close();
  });
});

describe('an armed fault', () => {
  it('applies to request numbers, ranges, or a share of requests drawn from the seed', async () => {
    const hit = async () => (await service.get('/plan')).status !== 200;
    const hits = async (count: number) => {
      const found = [];
      for (let k = 1; k <= count; k++) if (await hit()) found.push(k);
      return found;
    };
    service.sandbox.armFaults(['plan:html@2', 'any:html@4-5']);
    expect(await hits(7)).toEqual([2, 4, 5]);
    service.sandbox.armFaults(['plan:html@30%']);
    const drawn = await hits(40);
    expect(drawn.length).toBeGreaterThan(4);
    expect(drawn.length).toBeLessThan(22);
    service.sandbox.armFaults(['plan:html@30%']);
    expect(await hits(40)).toEqual(drawn);
  });

  it('can be listed and replaced over HTTP without a key', async () => {
    const url = `${service.sandbox.baseUrl}/sandbox/faults`;
    const post = (body: object) => fetch(url, { method: 'POST', body: JSON.stringify(body) });
    await post({ faults: ['plan:html@1'] });
    expect((await service.get('/plan')).status).toBe(503);
    expect(await (await fetch(url)).json()).toEqual({ faults: [{ fault: 'plan:html@1', requests: 1, fired: 1 }] });
    const refused = await post({ faults: ['plan:html@1', 'exports:drop'] });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("unknown endpoint 'exports'");
    await post({ faults: [] });
    expect(await (await fetch(url)).json()).toEqual({ faults: [] });
  });

  it.each([
    ['drop', 'export:drop@1'],
    ['export:melt', "unknown kind 'melt'"],
    ['shop:drop', "unknown endpoint 'shop'"],
    ['items:rows=1', 'rows only works on export'],
    ['export:drop=2', "'2' is not a valid argument for drop"],
    ['export:html=404', "'404' is not a valid argument for html"],
    ['export:402=money', "'money' is not a valid argument for 402"],
    ['export:401=x', "'x' is not a valid argument for 401"],
    ['export:drop@0', "'@0' does not look like @3"],
    ['export:drop@5-3', "'@5-3' does not look like"],
    ['export:drop@101%', "'@101%' does not look like"],
  ])('is refused for %s, with the allowed values', async (spec, reason) => {
    const error = await startSandbox({ faults: [spec] }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PricelakeError);
    expect(error).toMatchObject({ code: 'usage' });
    expect((error as Error).message).toContain(reason);
  });
});
