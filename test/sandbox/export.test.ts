import { afterAll, describe, expect, it } from 'vitest';
import { item } from '../../src/api/contract.js';
import { parse, Service } from './service.js';

const service = await Service.start();
const items = (await service.sandbox.dump()).items;
afterAll(() => service.close());

/** RFC 4180, as a reader of the file would do it. */
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
  it('answers CSV by default: one header row, one row an item, newlines inside quotes', async () => {
    const answer = await service.get('/export?status=all');
    expect(answer.headers.get('content-type')).toContain('text/csv');
    const [header, ...rows] = parseCsv(answer.text);
    expect(rows).toHaveLength(items.length);
    expect(answer.headers.get('x-export-rows')).toBe(String(items.length));
    for (const [k, line] of items.entries()) {
      const cells = Object.fromEntries((header ?? []).map((name, at) => [name, rows[k]?.[at]]));
      const one = parse(line, item);
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
  });

  it('streams a large world in the order of the ids, segment by segment, after a step', async () => {
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

function toPlainNumber(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
