/** Tests the counts beside the filters on the page of products. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyMarket, type Explored, explore, type StoryLake } from './explored.js';

let explored: Explored<StoryLake>;
beforeAll(async () => {
  explored = await explore(await copyMarket());
});
afterAll(async () => {
  await explored.close();
  await explored.story.close();
});

const decode = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"');

/** Values of a filter with the counts beside them. */
function readFilter(page: string, name: string): [value: string, count: number][] {
  const list =
    name === 'brand'
      ? /<datalist id="brands">([\s\S]*?)<\/datalist>/u
      : new RegExp(`<select name="${name}">([\\s\\S]*?)</select>`, 'u');
  const [, options = ''] = list.exec(page) ?? [];
  return [...options.matchAll(/<option value="([^"]+)"[^>]*>[^<]*\(([\d,]+)\)<\/option>/gu)].map(([, value, count]) => [
    decode(value ?? ''),
    Number((count ?? '').replaceAll(',', '')),
  ]);
}

async function countProducts(filters: Record<string, string>): Promise<number> {
  const answer = await explored.get(`/analyses/find_products.csv?${new URLSearchParams(filters)}`);
  return (await answer.text()).trimEnd().split('\r\n').length - 1;
}

const NAMES = ['brand', 'category', 'site_id', 'currency', 'grade', 'in_stock'];

test.each([{}, { q: 'bead' }, { site_id: '11' }, { brand: 'bead', site_id: '44' }, { max_price: '150', grade: 'B' }])(
  'each filter shows how many products it would leave in addition to %j',
  async (set: Record<string, string>) => {
    const page = await explored.page(`/products?${new URLSearchParams(set)}`);
    let seen = 0;
    for (const name of NAMES) {
      for (const [value, count] of readFilter(page, name)) {
        expect([name, value, await countProducts({ ...set, [name]: value })]).toEqual([name, value, count]);
        seen += 1;
      }
    }
    expect(seen).toBeGreaterThan(3);
    const total = await countProducts(set);
    expect(page).toContain(`<caption><span>${total === 1 ? '1 product' : `${total} products`} with a price`);
  },
);

test('a shop can be chosen by its name', async () => {
  const page = await explored.page('/products?site_id=33');
  expect(page).toContain('<option value="33" selected>Market (1)</option>');
  expect(page).toContain('<option value="44">Depot (61)</option>');
});

test('a value without products stays selected', async () => {
  const page = await explored.page('/products?category=none');
  expect(page).toContain('<option value="none" selected>none</option>');
  expect(page).toContain('No product has these words and values');
});

test('while one types, rows are sent without counts', async () => {
  const page = await explored.page('/products?q=bead&part=found');
  expect(page).not.toContain('<datalist');
  expect(page).not.toContain('part=found');
  expect(page).toContain('Bead 10');
});
