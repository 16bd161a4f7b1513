import { stringify } from 'lossless-json';
import { expect, test } from 'vitest';
import { facetsAnswer } from '../../src/extract/facets.js';

test('facets of a service that leaves out what is null are read: a category without parentId is a top one', () => {
  const category = { id: 1, name: 'Toys', slug: 'toys', path: 'Toys', items: 3 };
  const answer = facetsAnswer.parse({ categories: [category], currencies: [], sites: [] });
  expect(JSON.parse(stringify(answer) ?? '').categories).toEqual([category]);
  expect(() =>
    facetsAnswer.parse({ categories: [{ ...category, items: undefined }], currencies: [], sites: [] }),
  ).toThrow();
});
