import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { errorBody, planInfo } from '../../src/api/account-contract.js';
import { itemPage } from '../../src/api/contract.js';
import { parse, Service } from './service.js';

const service = await Service.start({ items: 600, limits: { historyDays: 40 } });
afterAll(() => service.close());

const count = async (query: string) =>
  Number((await service.read(`/items?status=all&size=1&${query}`, itemPage)).totalElements);

/** Sends bytes that no HTTP client would send, and returns the response. */
async function sendRaw(text: string): Promise<{ status: number; headers: string; body: string }> {
  const socket = connect(Number(new URL(service.sandbox.baseUrl).port), '127.0.0.1');
  socket.write(text);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  const [headers = '', body = ''] = answer.split('\r\n\r\n');
  return { status: Number(headers.split(' ')[1]), headers: headers.toLowerCase(), body };
}

describe('q', () => {
  it('finds attribute values at any depth, but never attribute names', async () => {
    const { items: all } = await service.readTruth();
    expect(await count('q=reviews')).toBe(0);
    const inCentimetres = all.filter(({ attributes }) => 'dimensions' in attributes);
    expect(inCentimetres.length).toBeGreaterThan(0);
    const answer = await service.read('/items?status=all&size=500&q=12.5%20cm', itemPage);
    const found = new Set(answer.content.map(({ id }) => id));
    for (const { id } of inCentimetres) expect(found.has(id)).toBe(true);
  });

  it('finds a word next to quotes and backslashes', async () => {
    const { items: all } = await service.readTruth();
    const express = all.filter(({ attributes }) => 'delivery' in attributes).length;
    expect(express).toBeGreaterThan(0);
    expect(await count(`q=${encodeURIComponent('"express" möglich')}`)).toBe(express);
    expect(await count(`q=${encodeURIComponent('\\"express')}`)).toBe(0);
  });

  it('folds the case of every letter consistently', async () => {
    const row = JSON.parse((await service.sandbox.dump()).items[0] ?? '');
    const own = { ...row, title: 'Reise nach İstanbul', attributes: { place: 'DIYARBAKIR, ÇEŞME, Οδός' }, id: 5 };
    const folder = await mkdtemp(join(tmpdir(), 'pricelake-test-'));
    await writeFile(join(folder, 'one.ndjson'), JSON.stringify(own));
    const turkish = await Service.start({ dataFile: join(folder, 'one.ndjson') });
    for (const word of ['İstanbul', 'istanbul', 'ISTANBUL', 'ıstanbul', 'i̇stanbul', 'diyarbakır', 'çeşme', 'ΟΔΌΣ']) {
      const answer = await turkish.read(`/items?status=all&q=${encodeURIComponent(word)}`, itemPage);
      expect(answer.totalElements, word).toBe(1n);
    }
    await turkish.close();
    await rm(folder, { recursive: true });
  });
});

describe('a price parameter', () => {
  it.each([
    '12345678901234.56789',
    '99999999999999.99999',
    '-99999999999999.99999',
    '0.00001',
    '1e-400',
    '1e999999999',
  ])('accepts %s as minPrice or maxPrice, however many digits it has', async (price) => {
    const [above, below, all] = [await count(`minPrice=${price}`), await count(`maxPrice=${price}`), await count('')];
    const unpriced = all - (await count('minPrice=-1e300'));
    expect(above + below + unpriced).toBe(all);
  });

  it('compares every digit, so minPrice 11.95001 excludes a price of 11.95', async () => {
    const { content } = await service.read('/items?size=500&sort=price', itemPage);
    const price = content.find((one) => one.price !== null && one.price > 5)?.price as number;
    const at = await count(`minPrice=${price}&maxPrice=${price}`);
    expect(at).toBeGreaterThan(0);
    expect(await count(`minPrice=${price}00001&maxPrice=${price}`)).toBe(0);
    expect(await count(`minPrice=${price}&maxPrice=${price - 0.01}99999`)).toBe(0);
    expect(await count(`minPrice=${price}00000&maxPrice=${price}00001`)).toBe(at);
    expect(await count(`maxPrice=-0.00001`)).toBe(await count('maxPrice=-0.0001'));
  });
});

describe('requests without cost and malformed requests', () => {
  it('HEAD /export returns the headers of the export and uses no export rows', async () => {
    const used = async () => (await service.read('/plan', planInfo)).usage?.exportRows;
    const before = await used();
    const headers = { authorization: `Bearer ${service.sandbox.keys.live}` };
    const url = `${service.sandbox.baseUrl}/api/v1/export?format=ndjson&status=all`;
    const answer = await fetch(url, { method: 'HEAD', headers });
    expect(answer.headers.get('x-export-rows')).toBe(String(await count('')));
    expect(await used()).toBe(before);
    await (await fetch(url, { headers })).text();
    expect(await used()).toBe((before ?? 0n) + BigInt(answer.headers.get('x-export-rows') ?? 0));
  });

  it.each([
    ['headers of 20 KB', `GET /api/v1/plan HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['a request that is not HTTP', 'hello?\r\n\r\n', 400],
  ])('%s get an Error body and the usual headers', async (_, text, status) => {
    const answer = await sendRaw(text);
    expect(answer.status).toBe(status);
    expect(parse(answer.body, errorBody)).toMatchObject({ status });
    expect(answer.headers).toContain('content-type: application/json');
    expect(answer.headers).toMatch(/x-quota-[\w-]+: /);
  });

  it('posted limits leave the limits of the command line unchanged', async () => {
    const post = async (body: object) => {
      const answer = await fetch(`${service.sandbox.baseUrl}/sandbox/account`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      return ((await answer.json()) as { limits: object }).limits;
    };
    expect(await post({ limits: { datasets: 2 } })).toMatchObject({
      ...{ datasets: 2, historyDays: 40, ratePerSecond: null },
    });
    expect(await post({ limits: { historyDays: 7 } })).toMatchObject({ datasets: 10, historyDays: 7 });
    expect(await post({ limits: {} })).toMatchObject({ historyDays: 40, ratePerSecond: null });
  });
});
