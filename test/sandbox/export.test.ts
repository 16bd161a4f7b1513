import { describe, expect, it } from 'vitest';
import { item } from '../../src/api/contract.js';
import { parse, Service } from './service.js';

/** Parses CSV according to RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  const field = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n)/gy;
  let row: string[] = [];
  for (let match = field.exec(text); match !== null; match = field.exec(text)) {
    const [, value = '', end] = match;
    row.push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value);
    if (end !== ',') {
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

describe('GET /export', () => {
  it('returns CSV by default, with one header row, one row per item, and newlines inside quotes', async () => {
    const service = await Service.start();
    const { items } = await service.readTruth();
    const answer = await service.get('/export?status=all');
    expect(answer.headers.get('content-type')).toContain('text/csv');
    const [header, ...rows] = parseCsv(answer.text);
    expect(rows).toHaveLength(items.length);
    expect(answer.headers.get('x-export-rows')).toBe(String(items.length));
    for (const [k, one] of items.entries()) {
      const cells = Object.fromEntries((header ?? []).map((name, at) => [name, rows[k]?.[at]]));
      expect(cells).toMatchObject({
        id: String(one.id),
        title: one.title ?? '',
        currency: one.currency ?? '',
        siteHost: one.site.host,
        siteAttribution: one.site.attribution ?? '',
        categoryPath: one.category?.path ?? '',
        firstSeenAt: one.firstSeenAt,
        removedAt: one.removedAt ?? '',
      });
      expect(Number(cells.price)).toBe(one.price ?? 0);
      expect(JSON.parse(cells.datasets ?? '')).toEqual(one.datasets);
      expect(JSON.parse(cells.attributes ?? '')).toEqual(JSON.parse(JSON.stringify(one.attributes, toPlainNumber)));
    }
    await service.close();
  });

  it('streams a large world segment by segment in the order of ids, also after advancing', async () => {
    const large = await Service.start({ items: 21_000 });
    await large.get('/export?status=all');
    await large.sandbox.advance({ hours: 1, changes: 3000 });
    const truth = (await large.sandbox.dump()).items.map((line) => /\d+/.exec(line)?.[0]);
    const csv = parseCsv((await large.get('/export?status=all')).text);
    expect(csv.slice(1).map(([id]) => id)).toEqual(truth);
    const ndjson = (await large.get('/export?format=ndjson&status=all')).text.trimEnd().split('\n');
    expect(ndjson.map((line) => /\d+/.exec(line)?.[0])).toEqual(truth);
    await large.close();
  });
});

const NAMES = {
  item: ['previousPrice', 'category', 'site', 'source', 'firstSeenAt'],
  'flat-camel': ['previousPrice', 'categoryPath', 'siteId', 'siteAttribution', 'sourceModelId', 'firstSeenAt'],
  'flat-snake': ['previous_price', 'category_path', 'site_id', 'site_attribution', 'source_model_id', 'first_seen_at'],
  dotted: ['previousPrice', 'category.path', 'site.id', 'site.attribution', 'source.modelId', 'firstSeenAt'],
};

describe('export rows', () => {
  it.each(['item', 'flat-camel', 'flat-snake', 'dotted'] as const)(
    'have the same names in NDJSON and CSV (%s)',
    async (exportShape) => {
      const service = await Service.start({ items: 60, exportShape });
      await service.sandbox.advance({ hours: 1, changes: 20 });
      const lines = (await service.sandbox.dump()).items;
      const ndjson = (await service.get('/export?format=ndjson&status=all')).text.trimEnd().split('\n');
      const csv = (await service.get('/export?status=all')).text;
      const names = Object.keys(JSON.parse(ndjson[0] ?? ''));
      expect(names).toEqual(expect.arrayContaining(NAMES[exportShape]));
      expect(csv.slice(0, csv.indexOf('\n'))).toBe(names.join(','));
      expect(ndjson).toHaveLength(lines.length);
      if (exportShape === 'item') expect(ndjson).toEqual(lines);
      for (const [k, line] of ndjson.entries()) {
        const values = Object.values(JSON.parse(line)).filter((value) => typeof value !== 'object');
        const { site, source, category } = parse(lines[k] ?? '', item);
        if (exportShape === 'item') continue;
        expect(values).toEqual(expect.arrayContaining([site.name, site.host, source.name]));
        if (category !== null) expect(values).toContain(category.path);
      }
      await service.close();
    },
  );

  it('in another shape leave all other responses unchanged', async () => {
    const service = await Service.start({ items: 20, exportShape: 'dotted' });
    const { items } = await service.sandbox.dump();
    for (const line of items) expect(parse(line, item).site.name).toBeTruthy();
    await service.close();
  });
});

function toPlainNumber(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
