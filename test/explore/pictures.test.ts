import { expect, test } from 'vitest';
import { openStory } from '../front/story.js';
import { explore } from './explored.js';

test("a picture is shown only from an allowed host, which doesn't learn the page", async () => {
  const story = await openStory();
  story.at('17 08:00');
  const lamp = { brand: 'Lux', mpn: 'L-1', title: 'Lamp', category: null, price: 1_000 };
  for (const [siteId, image] of [
    [11n, 'https://img.one.example/lamp.jpg?a=1&b="2"'],
    [22n, 'https://elsewhere.example/a.jpg'],
    [33n, 'https://elsewhere.example/a.jpg'],
    [44n, 'javascript:alert(1)'],
  ] as const) {
    story.add({ ...lamp, siteId, image });
  }
  await story.run();
  const plain = await explore(story);
  expect(await plain.page('/products/lux-l1')).not.toContain('<img');
  const pictured = await explore(story, { pictures: ['img.one.example'] });
  const answer = await pictured.get('/products/lux-l1');
  expect(answer.headers.get('content-security-policy')).toContain('; img-src data: https://img.one.example;');
  expect((await pictured.page('/products/lux-l1')).match(/<img [^>]*>/gu)).toEqual([
    '<img class="picture" src="https://img.one.example/lamp.jpg?a=1&amp;b=&quot;2&quot;" alt="" loading="lazy" referrerpolicy="no-referrer">',
  ]);
  await plain.close();
  await pictured.close();
  await story.close();
});
