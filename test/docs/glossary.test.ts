import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { packagePath } from '../../src/io/package-path.js';

const GLOSSARY = 'docs/glossary.md';
const text = readFileSync(packagePath(GLOSSARY), 'utf8');
const terms = [...text.matchAll(/\*\*([^*]+)\*\*/gu)].map(([, term = '']) => term);

/** All texts that a user reads: pages, and the output of commands. */
const files = ['docs', 'src/cli', 'src/plan', 'src/run'].flatMap((folder) =>
  readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:md|ts)$/u.test(name))
    .map((name) => `${folder}/${name}`),
);
const read = files.filter((file) => file !== GLOSSARY).map((file) => readFileSync(packagePath(file), 'utf8'));

test('the glossary has each term once, in alphabetical order', () => {
  expect(terms.length).toBeGreaterThan(25);
  expect(new Set(terms).size).toBe(terms.length);
  const firsts = [...text.matchAll(/^- \*\*([^*]+)\*\*/gmu)].map(([, term = '']) => term);
  expect(firsts).toEqual(firsts.toSorted());
});

test.each(terms)('a page or a command uses "%s"', (term) => {
  const word = new RegExp(`\\b${term.toLowerCase().replace(/e$/u, '')}`, 'iu');
  expect(read.some((page) => word.test(page))).toBe(true);
});
