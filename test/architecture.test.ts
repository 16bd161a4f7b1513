import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

test.each(['ARCHITECTURE.md', 'README.md'])('every file that %s names exists', (document) => {
  const text = readFileSync(root(document), 'utf8');
  const named = [...text.matchAll(/[`(]((?:src|pipelines|schemas|test|bench|docs)\/[\w./-]*\w)[`)]/g)].map(
    ([, path]) => path,
  );
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((path) => !existsSync(root(path as string)))).toEqual([]);
});
