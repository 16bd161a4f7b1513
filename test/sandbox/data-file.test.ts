import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { change, dataset, facets, historyEntry, item } from '../../src/api/contract.js';
import { PricelakeError } from '../../src/io/errors.js';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/start.js';
import { parse, Service } from './service.js';

const directory = await mkdtemp(join(tmpdir(), 'pricelake-test-'));
const sandbox = await startSandbox({ items: 400 });
await sandbox.advance({ hours: 3, changes: 60 });
const { items: lines, changes: recorded } = await sandbox.dump();
await sandbox.close();
const dataFile = await write('items.ndjson', lines.join('\n'));
afterAll(() => rm(directory, { recursive: true }));

async function write(name: string, content: string | Buffer): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

/** A sandbox that is closed after the test. */
async function startOn(options: SandboxOptions): Promise<Service> {
  const service = await Service.start(options);
  onTestFinished(() => service.close());
  return service;
}

async function refusal(options: SandboxOptions): Promise<PricelakeError> {
  const error = await startOn(options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PricelakeError);
  return error as PricelakeError;
}

describe('a data file', () => {
  it('reports its steps until it is served', async () => {
    const begun: string[] = [];
    const done: string[] = [];
    const progress: SandboxOptions['progress'] = ({ step, done: isDone = false }) =>
      void (isDone ? done : begun).push(step);
    await startOn({ dataFile, progress });
    expect(begun).toEqual(['reading', 'loading', 'changes', 'preparing']);
    expect(done).toEqual(begun);
  });

  it.each(['plain', 'gzip'])('is served item by item without changes (%s)', async (form) => {
    const text = `${[...lines].reverse().join('\n')}\n`;
    const service = await startOn({ dataFile: await write(form, form === 'gzip' ? gzipSync(text) : text) });
    const served = (await service.sandbox.dump()).items.map((line) => parse(line, item));
    const inOrder = (one: z.infer<typeof item>) => ({ ...one, datasets: [...one.datasets].sort() });
    expect(served.map(inOrder)).toEqual(lines.map((line) => inOrder(parse(line, item))));
    const datasets = await service.read('/datasets', z.array(dataset));
    expect(datasets.map(({ name }) => name)).toContain('Open prices');
    const { categories } = await service.read('/facets', facets);
    expect(categories.map(({ path }) => path)).toContain('Electronics > TV & Audio');
  });

  it('has a past that ends in the current state of the items', async () => {
    const service = await startOn({ dataFile });
    const { items, changes } = await service.sandbox.dump();
    const last = new Map(changes.map((line) => parse(line, change)).map((entry) => [entry.item?.id, entry] as const));
    for (const line of items) {
      const { id, price, lastChangedAt } = parse(line, item);
      expect(last.get(id)).toMatchObject({ price, observedAt: lastChangedAt });
    }
    expect(await service.readFeed()).toHaveLength(changes.length);
  });

  it('advances like a generated world', async () => {
    const service = await startOn({ dataFile });
    const counts = await service.sandbox.advance({ hours: 2, changes: 150 });
    expect(counts.changes).toBe(150);
    expect(counts.new).toBeGreaterThan(0);
    const { items } = await service.sandbox.dump();
    expect(items).toHaveLength(lines.length + counts.new);
    for (const line of items) parse(line, item);
  });

  it('may omit fields that may be null', async () => {
    const minimal = {
      id: 5,
      site: { id: 1, name: 'A', host: 'a.example', attribution: null },
      source: { modelId: 2, name: 'A' },
      firstSeenAt: '2026-01-01T00:00:00Z',
      lastSeenAt: '2026-01-02T00:00:00Z',
      lastChangedAt: '2026-01-01T00:00:00Z',
    };
    const service = await startOn({ dataFile: await write('minimal', JSON.stringify(minimal)) });
    expect(await service.read('/items/5', item)).toMatchObject({ title: null, attributes: {}, datasets: ['Items'] });
  });

  it('keeps every digit of its prices and other numbers', async () => {
    const prices = ['12345678901234.5678', '99999999999999.9999', '0.1', '-3.25', '1.5e2', '7', 'null'];
    const own = prices.map((price, k) =>
      (lines[k] ?? '')
        .replace(/"price":[^,]+,"previousPrice":[^,]+/, `"price":${price},"previousPrice":${price}`)
        .replace(
          /"attributes":\{/,
          '"attributes":{"note":"at 0.12345678901234567, so","weight":0.12345678901234567,"serial":123456789012345678901,',
        ),
    );
    const service = await startOn({ dataFile: await write('digits', own.join('\n').replaceAll(',}', '}')) });
    const served = (await service.sandbox.dump()).items;
    const kept = served.map((line) => /"price":([^,]+),/.exec(line)?.[1]);
    expect(kept).toEqual(['12345678901234.5678', '99999999999999.9999', '0.10', '-3.25', '150.00', '7.00', 'null']);
    for (const line of served) {
      expect(line).toContain(
        '"note":"at 0.12345678901234567, so","weight":0.12345678901234567,"serial":123456789012345678901',
      );
    }
    const most = await service.get('/items?sort=-price&size=1&status=all');
    expect(most.text).toContain('"price":99999999999999.9999,');
  });

  it('serves unknown fields unchanged, in responses and exports', async () => {
    const fields = ['"color":"r\\"ot,é"', '"sizes":[1.10,{"a":12345678901234567890.5}]', '"we/ird~key":null'];
    const own = lines
      .slice(0, 3)
      .map((line, k) => line.replace(/\}$/, `,${fields[k]}}`).replace('"site":{', '"site":{"rank":7,'));
    const service = await startOn({ dataFile: await write('extra', own.join('\n')) });
    const served = (await service.sandbox.dump()).items;
    expect(served[0]?.endsWith(`,${fields[0]}}`)).toBe(true);
    expect(served[1]?.endsWith(',"sizes":[1.1,{"a":12345678901234567890.5}]}')).toBe(true);
    expect(served[2]?.endsWith(`,${fields[2]}}`)).toBe(true);
    expect(served.every((line) => line.includes('"site":{"rank":7,'))).toBe(true);
    expect((await service.get('/export?format=ndjson&status=all')).text.trimEnd().split('\n')).toEqual(served);
    const csv = (await service.get('/export?status=all')).text.split('\n');
    expect(csv[0]?.endsWith(',removedAt,color,sizes,we/ird~key')).toBe(true);
    expect(csv[1]?.endsWith(',"r""ot,é",,')).toBe(true);
    await service.sandbox.advance({ hours: 1, changes: 3 });
    for (const line of (await service.sandbox.dump()).items) parse(line, item);
  });

  it('is refused with the line of a price that has too many digits', async () => {
    for (const price of ['1.23456', '123456789012345', '0.1234567890123456789', '"12.50"']) {
      const bad = (lines[1] ?? '').replace(/"price":[^,]+/, `"price":${price}`);
      const error = await refusal({ dataFile: await write('digits', [lines[0], bad].join('\n')) });
      expect(error).toMatchObject({ code: 'config' });
      expect(error.message).toContain('line 2');
      expect(error.message).toContain('price');
    }
  });

  it('is refused with the line that is not an Item', async () => {
    const broken: [string, string][] = [
      ['{oops', 'not JSON'],
      ['{"id":1}', 'site'],
      [lines[0] ?? '', 'is already used on an earlier line'],
      [(lines[3] ?? '').replace(/"id":\d+/, '"id":"seven"'), 'id'],
    ];
    for (const [line, reason] of broken) {
      const error = await refusal({ dataFile: await write('broken', [lines[0], lines[1], line].join('\n')) });
      expect(error.code).toBe('config');
      expect(error.message).toContain('line 3');
      expect(error.message).toContain(reason);
      expect(error.facts.hint).toContain('Item');
    }
  });

  it('may have ids up to 2^63-1 in items, websites and sources, also after advancing', async () => {
    const ids = [2n ** 60n, 2n ** 63n - 1n];
    const own = ids.map((id, k) =>
      (lines[k] ?? '')
        .replace(/"id":\d+/, `"id":${id}`)
        .replace(/"site":\{"id":\d+/, `"site":{"id":${id - 7n}`)
        .replace(/"modelId":\d+/, `"modelId":${id - 9n}`),
    );
    const service = await startOn({ dataFile: await write('long', own.join('\n')) });
    for (const [k, id] of ids.entries()) expect((await service.get(`/items/${id}`)).text).toBe(own[k]);
    const { sites } = await service.read('/facets', facets);
    expect(sites.map((site) => site.id).sort()).toEqual(ids.map((id) => id - 7n));
    const counts = await service.sandbox.advance({ hours: 24, changes: 6 });
    expect(counts).toMatchObject({ new: 0 });
    expect(counts.changed + counts.removed + counts.relisted).toBeGreaterThan(0);
    expect((await service.sandbox.dump()).items).toHaveLength(2);
  });

  it('is refused with the right line if a title contains a line separator', async () => {
    const separated = (lines[0] ?? '').replace(/"title":("[^"]*"|null)/, '"title":"one\u2028two\u2029three\u0085four"');
    const error = await refusal({
      dataFile: await write('separated', [separated, '', lines[1], '{"id":1}'].join('\n')),
    });
    expect(error.facts.line).toBe(4);
    expect(error.message).toContain('line 4');
  });

  it('is refused if it is missing, empty, or a damaged gzip file', async () => {
    expect((await refusal({ dataFile: join(directory, 'nowhere') })).code).toBe('usage');
    expect((await refusal({ dataFile: await write('empty', '') })).code).toBe('config');
    const gzip = gzipSync(lines.join('\n'));
    const error = await refusal({ dataFile: await write('cut.gz', gzip.subarray(0, gzip.length - 20)) });
    expect(error.message).toContain('gzip');
  });
});

describe('a file of changes', () => {
  it('is served unchanged in the feed and in histories, and new changes follow it', async () => {
    const own = recorded.map((line, k) =>
      k === 3 ? line.replace('"price":', '"price" : ').replace(/"item":.*/, '"item":null}') : line,
    );
    const changesFile = await write('changes.gz', gzipSync(`${own.join('\n')}\n`));
    const service = await startOn({ dataFile, changesFile, limits: { historyDays: null } });
    expect(await service.readFeed()).toEqual(own.map((line) => parse(line, change)));
    const counts = new Map<bigint, number>();
    for (const line of own) {
      const id = parse(line, change).item?.id;
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    const [[id, count] = []] = [...counts].sort(([, a], [, b]) => b - a);
    const history = await service.read(`/items/${id}/history`, z.array(historyEntry));
    expect(history).toHaveLength(count ?? 0);
    expect(count).toBeGreaterThan(2);
    await service.sandbox.advance({ hours: 1, changes: 5 });
    const { changes } = await service.sandbox.dump();
    const ids = changes.map((line) => parse(line, change).id);
    expect(ids).toHaveLength(own.length + 5);
    expect(ids).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('may omit the titles of items or have null, as some services do, and may omit nulls', async () => {
    const titles = ['', '"title":null,', '"title":"",'];
    const own = recorded
      .slice(0, 3)
      .map((line, k) =>
        line
          .replace(/"title":("(?:[^"\\\\]|\\\\.)*"|null),/, titles[k] ?? '')
          .replaceAll(/"(?:url|attribution)":null,?/g, ''),
      );
    const changesFile = await write('untitled.ndjson', own.join('\n').replaceAll(',}', '}'));
    const service = await startOn({ dataFile, changesFile, limits: { historyDays: null } });
    const { text } = await service.get('/changes?after=0');
    const served = (JSON.parse(text) as { changes: { item: { title?: string | null } | null }[] }).changes;
    expect(served.map(({ item }) => item?.title)).toEqual([undefined, null, '']);
  });

  it('is refused with the line, the problem and a next step', async () => {
    const [first = '', second = '', third = ''] = recorded;
    const later = first.replace(/"observedAt":"\d{4}/, '"observedAt":"2099');
    const broken: [string[], number, string][] = [
      [[first, '{oops'], 2, 'not JSON'],
      [[first, '', second.replace('"observedAt"', '"seenAt"')], 3, 'observedAt'],
      [[first, third, second], 3, 'ids must increase'],
      [[first, first], 2, 'ids must increase'],
      [[later, second], 2, 'in chronological order'],
      [[first, second.replace(/"item":\{"id":\d+/, '"item":{"id":7')], 2, 'the item 7 is not among the Items'],
      [[second.replace(/"price":[^,]+/, '"price":1.23456')], 1, 'price'],
      [[second.replace(/"kind":"\w+"/, '"kind":"SOLD"')], 1, 'kind'],
      [[second.replace(/"title":("[^"]*"|null),/, '"title":7,')], 1, 'item.title'],
      [[''], 1, 'empty'],
    ];
    for (const [content, line, reason] of broken) {
      const error = await refusal({ dataFile, changesFile: await write('broken', content.join('\n')) });
      expect(error.code).toBe('config');
      expect(error.message).toContain(`broken, line ${line}: `);
      expect(error.message).toContain(reason);
      expect(error.facts.hint).toContain('Change');
    }
    expect((await refusal({ dataFile, changesFile: join(directory, 'nowhere') })).code).toBe('usage');
  });
});
