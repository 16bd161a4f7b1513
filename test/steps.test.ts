// The steps of a run have one list of names, and whatever shows them follows it.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { RUN_STEPS } from '../src/io/io.js';
import { tryEntry } from '../src/journal/tries.js';

const read = (file: string) => readFileSync(file, 'utf8');

/** Names at the beginning of the points of a numbered list. */
const listPoints = (text: string) => [...text.matchAll(/^\d\. \*\*(\w+)/gmu)].map(([, name]) => name?.toLowerCase());

test('src/run/sync.ts does the steps in this order', () => {
  expect([...read('src/run/sync.ts').matchAll(/\bstep\('(\w+)'/gu)].map(([, name]) => name)).toEqual([...RUN_STEPS]);
});

test('each step has a folder in src/run, but the last one, which is of the lake alone', () => {
  expect(RUN_STEPS.filter((step) => !existsSync(`src/run/${step}`))).toEqual(['compact']);
});

test('the memory of a lake notes them', () => {
  const { steps, fault } = tryEntry.shape;
  expect(z.toJSONSchema(steps).propertyNames).toMatchObject({ enum: [...RUN_STEPS] });
  expect(z.toJSONSchema(fault)).toMatchObject({ properties: { step: { enum: [...RUN_STEPS] } } });
});

test.each(['ARCHITECTURE.md', 'docs/concepts/runs.md'])('%s lists them', (file) => {
  expect(listPoints(read(file))).toEqual([...RUN_STEPS]);
});

test('the picture of a run shows them', () => {
  const picture = read('docs/images/run.svg');
  expect([...picture.matchAll(/mid strong"[^>]*>(\w+)</gu)].map(([, name]) => name?.toLowerCase())).toEqual([
    ...RUN_STEPS,
  ]);
  expect(/aria-label="Eight steps: ([^"]*)"/u.exec(picture)?.[1]).toBe(RUN_STEPS.join(', '));
});
