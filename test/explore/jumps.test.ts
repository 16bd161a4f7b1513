/** Tests the order of price falls on the pages of Today and of a shop. */
import { expect, test } from 'vitest';
import { openStory } from '../front/story.js';
import { explore } from './explored.js';

test('a fall by a factor of ten or more, which is often a mistake, comes after smaller falls', async () => {
  const story = await openStory();
  story.at('15 08:00');
  const add = (title: string) => story.add({ brand: 'Acme', mpn: title, title, siteId: 11n, price: 10_000 });
  const [saw, drill, plane] = ['Saw', 'Drill', 'Plane'].map(add);
  await story.run();
  story.at('16 08:00');
  for (const [item, price] of [[saw, 100] as const, [drill, 8_000] as const, [plane, 5_000] as const])
    if (item !== undefined) story.change(item, { previousPrice: item.price, price });
  await story.run();
  const explored = await explore(story);
  for (const path of ['/', '/shops/11']) {
    const page = await explored.page(path);
    const table =
      (page.match(/<table[\s\S]*?<\/table>/gu) ?? []).find((one) => one.includes('analysis="movers"')) ?? '';
    const titles = [...table.matchAll(/<th scope="row"[^>]*>(.*?)<\/th>/gu)].map(([, cell = '']) =>
      cell.replaceAll(/<[^>]*>/gu, ''),
    );
    expect([path, titles]).toEqual([path, ['Plane', 'Drill', 'Saw']]);
  }
  await explored.close();
  await story.close();
});
