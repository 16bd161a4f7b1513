import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GENERATED } from '../../docs/generate.js';
import { packagePath } from '../../src/io/package-path.js';

/** Results of `npm run interop` and `npm run interop:spark`. */
const TRIED = ['interop', 'object-storage', 'deliveries', 'spark'].map((name) => `docs/background/${name}.md`);
const PAGES = readdirSync(packagePath('docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);

/** Counts words as `wc -w` does, including tables and code. */
const countWords = (pages: string[]) =>
  pages.reduce((sum, page) => sum + readFileSync(packagePath(page), 'utf8').split(/\s+/).filter(Boolean).length, 0);

const isReference = (page: string) => page in GENERATED;
const isTried = (page: string) => TRIED.includes(page);

test.each([
  ['written by hand', 22_000, PAGES.filter((page) => !isReference(page) && !isTried(page))],
  // A price statistician needs each method's definition, source, limits and options.
  ['of the generated reference', 20_000, PAGES.filter(isReference)],
  ['with results of trials', 1_800, PAGES.filter(isTried)],
])('the pages %s have at most %i words', (_, limit, pages) => {
  expect(pages.length).toBeGreaterThan(2);
  expect(countWords(pages)).toBeLessThanOrEqual(limit);
});

test.each(['engineer', 'analyst', 'loader', 'contributor'])(
  'the first page for the role %s has at most seven links',
  (role) => {
    const links = readFileSync(packagePath(`docs/${role}.md`), 'utf8').match(/\]\([^)]+\)/g) ?? [];
    expect(links.length).toBeGreaterThan(3);
    expect(links.length).toBeLessThanOrEqual(7);
  },
);
