import { describe, expect, it } from 'vitest';
import { item } from '../../src/api/contract.js';
import { parse, Service } from './service.js';

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
      const { items } = await service.sandbox.dump();
      const ndjson = (await service.get('/export?format=ndjson&status=all')).text.trimEnd().split('\n');
      const csv = (await service.get('/export?status=all')).text;
      const names = Object.keys(JSON.parse(ndjson[0] ?? ''));
      expect(names).toEqual(expect.arrayContaining(NAMES[exportShape]));
      expect(csv.slice(0, csv.indexOf('\n'))).toBe(names.join(','));
      expect(ndjson).toHaveLength(items.length);
      if (exportShape === 'item') expect(ndjson).toEqual(items);
      for (const [k, line] of ndjson.entries()) {
        const values = Object.values(JSON.parse(line)).filter((value) => typeof value !== 'object');
        const { site, source, category } = parse(items[k] ?? '', item);
        if (exportShape === 'item') continue;
        expect(values).toEqual(expect.arrayContaining([site.name, site.host, source.name]));
        if (category !== null) expect(values).toContain(category.path);
      }
      await service.close();
    },
  );

  it('leave the other answers as the document has them', async () => {
    const service = await Service.start({ items: 20, exportShape: 'dotted' });
    const { items } = await service.sandbox.dump();
    for (const line of items) expect(parse(line, item).site.name).toBeTruthy();
    await service.close();
  });
});
