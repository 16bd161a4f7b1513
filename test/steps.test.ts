// The steps of a run have one list of names, which everything that shows steps follows.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { RUN_STEPS } from '../src/io/io.js';
import { tryEntry } from '../src/journal/tries.js';

const read = (file: string) => readFileSync(file, 'utf8');

/** The names at the start of the items of a numbered list. */
const listPoints = (text: string) => [...text.matchAll(/^\d\. \*\*(\w+)/gmu)].map(([, name]) => name?.toLowerCase());

test('src/run/sync.ts runs the steps in this order', () => {
  expect([...read('src/run/sync.ts').matchAll(/\bstep\('(\w+)'/gu)].map(([, name]) => name)).toEqual([...RUN_STEPS]);
});

test('each step has a folder in src/run, except the last one, which only needs the lake', () => {
  expect(RUN_STEPS.filter((step) => !existsSync(`src/run/${step}`))).toEqual(['compact']);
});

test("the lake's saved state accepts exactly these steps", () => {
  const { steps, fault } = tryEntry.shape;
  expect(z.toJSONSchema(steps).propertyNames).toMatchObject({ enum: [...RUN_STEPS] });
  expect(z.toJSONSchema(fault)).toMatchObject({ properties: { step: { enum: [...RUN_STEPS] } } });
});

test.each(['ARCHITECTURE.md', 'docs/concepts/runs.md'])('%s lists exactly these steps', (file) => {
  expect(listPoints(read(file))).toEqual([...RUN_STEPS]);
});

test('the diagram of a run shows exactly these steps', () => {
  const picture = read('docs/images/run.svg');
  expect([...picture.matchAll(/mid strong"[^>]*>(\w+)</gu)].map(([, name]) => name?.toLowerCase())).toEqual([
    ...RUN_STEPS,
  ]);
  expect(/aria-label="Eight steps: ([^"]*)"/u.exec(picture)?.[1]).toBe(RUN_STEPS.join(', '));
});
