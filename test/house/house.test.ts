import { expect, test } from 'vitest';
import { readBounds, tabulateHouse } from './bounds.js';
import { measureHouse } from './measure-house.js';

const bounds = readBounds();
const figures = tabulateHouse(measureHouse('src'));

test.each(figures)('$name are not more than recorded', ({ name, value, places }) => {
  const bound = bounds[name] as number;
  expect(
    value,
    `${name}: ${value}, recorded ${bound}. Find a shape that leaves the kernel smaller.${list(places)}`,
  ).toBeLessThanOrEqual(bound);
});

test('each recorded figure is measured', () => {
  expect(Object.keys(bounds)).toEqual(figures.map(({ name }) => name));
});

const list = (places: readonly string[] = []) => places.map((place) => `\n  ${place}`).join('');
