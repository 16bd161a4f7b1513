import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { resolveConfig } from 'vitepress';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packagePath } from '../../src/io/package-path.js';

const OUTSIDE = [
  ...['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md', 'SPEC.md'],
  ...['bench/README.md', 'pipelines/spark/README.md'],
];
const STRAY = [
  ...['scratch.md', 'docs/notes.md', 'docs/engineer/draft.md', 'docs/engineer/old/install.md', 'docs/(a) [b] {c}.md'],
  ...['bench/notes.md', 'pipelines/spark/sql/notes.md', 'test/sim/findings.md', 'lake/README.md', 'src/README.md'],
];

let checkout: string;
let pages: string[];

/** The pages of the project, in a checkout where other files lie about. */
beforeAll(async () => {
  checkout = await mkdtemp(path.join(tmpdir(), 'pricelake-site-'));
  const docs = await readdir(packagePath('docs'), { recursive: true });
  pages = [...OUTSIDE, ...docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)].sort();
  const settings = (await readdir(packagePath('docs/.vitepress'))).filter((name) => name.endsWith('.mjs'));
  for (const name of [...pages, ...settings.map((file) => `docs/.vitepress/${file}`)]) {
    await cp(packagePath(name), path.join(checkout, name));
  }
  await symlink(packagePath('node_modules'), path.join(checkout, 'node_modules'));
  for (const name of STRAY) {
    await mkdir(path.dirname(path.join(checkout, name)), { recursive: true });
    await writeFile(path.join(checkout, name), '# Not for everybody\n');
  }
  await symlink(path.join(checkout, 'lake'), path.join(checkout, 'docs', 'linked'));
});
afterAll(() => rm(checkout, { recursive: true }));

test('the site has the pages that README.md leads to, and nothing else that lies in the checkout', async () => {
  const site = await resolveConfig(path.join(checkout, 'docs'), 'build', 'production');
  expect(site.pages.toSorted()).toEqual(pages);
  expect(site.vite?.publicDir).toBe(false);
});
