import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer, resolveConfig } from 'vitepress';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packagePath } from '../../src/io/package-path.js';

const OUTSIDE = [
  ...['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md', 'SPEC.md'],
  ...['bench/README.md'],
];
const STRAY = [
  ...['scratch.md', 'docs/notes.md', 'docs/engineer/draft.md', 'docs/engineer/old/install.md', 'docs/(a) [b] {c}.md'],
  ...['bench/notes.md', 'pipelines/notes.md', 'test/sim/findings.md', 'lake/README.md', 'src/README.md'],
];

let checkout: string;
let pages: string[];

/** The pages of the project in a checkout that also contains other files. */
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

test('the site has the pages that README.md leads to, and no other file of the checkout', async () => {
  const site = await resolveConfig(path.join(checkout, 'docs'), 'build', 'production');
  expect(site.pages.toSorted()).toEqual(pages);
  expect(site.vite?.publicDir).toBe(false);
});

test('the home page links to the tutorial, to all pages and to the page of each role', async () => {
  const site = await resolveConfig(path.join(checkout, 'docs'), 'build', 'production');
  const transform = async (relativePath: string) =>
    site.transformPageData?.({ relativePath, frontmatter: {} } as never, { siteConfig: site });
  const home = (await transform('index.md'))?.frontmatter as {
    layout: string;
    hero: { actions: { link: string }[] };
    features: { link: string }[];
  };
  expect(home.layout).toBe('home');
  const links = [...home.hero.actions, ...home.features].map(
    ({ link }) => `${link.slice(1).replace(/\/$/u, '/README')}.md`,
  );
  const roles = ['engineer', 'analyst', 'loader', 'contributor'].map((role) => `docs/${role}.md`);
  expect(links).toEqual(['docs/tutorial.md', 'docs/README.md', ...roles]);
  expect(pages).toEqual(expect.arrayContaining(links));
  expect(await transform('docs/faq.md')).toBeUndefined();
});

test('each page has a Markdown version, and llms.txt links to all of them', async () => {
  const out = path.join(checkout, 'out');
  const site = await resolveConfig(path.join(checkout, 'docs'), 'build', 'production');
  await site.buildEnd?.({ ...site, outDir: out });
  const toIndex = (page: string) => page.replace(/(^|\/)README\.md$/u, '$1index.md');
  const twins = (await readdir(out, { recursive: true })).filter((name) => name.endsWith('.md'));
  expect(twins.toSorted()).toEqual(pages.map(toIndex).toSorted());
  const index = readFileSync(path.join(out, 'llms.txt'), 'utf8');
  expect(index).toMatch(
    /^# pricelake\n\n> pricelake keeps an exact copy .+\n\n## Start\n\n- \[Tutorial\]\(\/docs\/tutorial\.md\)\n/u,
  );
  const linked = [...index.matchAll(/\]\(\/([^)]+)\)/gu)].map(([, name]) => name);
  expect(linked.toSorted()).toEqual(twins.toSorted());
  for (const twin of twins) {
    const text = readFileSync(path.join(out, twin), 'utf8');
    for (const [, target = ''] of text.matchAll(/\]\((?!\w+:)([^)\s#]+\.md)/gu))
      expect(twins, `${twin}: ${target}`).toContain(path.posix.join(path.posix.dirname(twin), target));
  }
});

describe('the search of the site', () => {
  interface Index {
    search(query: string): { id: string }[];
  }
  let index: Index;

  /** The index as the site's server makes it, read as its search box does (`VPLocalSearchBox.vue`). */
  beforeAll(async () => {
    const server = await createServer(path.join(checkout, 'docs'));
    const module = await server.transformRequest('/@localSearchIndexroot');
    await server.close();
    const [, json = ''] = /^export default (".*")/mu.exec(module?.code ?? '') ?? [];
    const { site } = await resolveConfig(path.join(checkout, 'docs'), 'build', 'production');
    const vitepress = createRequire(packagePath('node_modules/vitepress/package.json'));
    const MiniSearch = vitepress('minisearch') as { loadJSON(json: string, options: object): Index };
    index = MiniSearch.loadJSON(JSON.parse(json) as string, {
      fields: ['title', 'titles', 'text'],
      storeFields: ['title', 'titles'],
      searchOptions: {
        fuzzy: 0.2,
        prefix: true,
        boost: { title: 4, text: 2, titles: 1 },
        ...site.themeConfig.search.options.miniSearch.searchOptions,
      },
    });
  });

  const find = (query: string) => index.search(query).map(({ id }) => id);

  test.each(['wrong key', '401', 'unauthorized key'])('shows the entry about a refused key first for "%s"', (query) => {
    expect(find(query)[0]).toBe('/docs/faq.html#returned-401');
  });

  test.each([
    ['held', '/docs/engineer/recover.html#a-batch-is-held'],
    ['cost', '/docs/engineer/cost.html#what-a-run-costs'],
    ['budget', '/docs/engineer/cost.html'],
    ['airflow', '/docs/engineer/schedule.html#airflow'],
    ['rebuild', '/docs/engineer/recover.html#rebuild'],
    ['verify', '/docs/engineer/verify.html#verify-the-copy'],
    ['snowflake', '/docs/loader/warehouse.html'],
    ['add a check', '/CONTRIBUTING.html#a-check'],
    ['webhook', '/docs/engineer/webhooks.html'],
    ['resume', '/docs/engineer/recover.html'],
    ['spread wrong', '/docs/concepts/spreads.html'],
    ['run dies', '/docs/engineer.html'],
    ['trusted', '/docs/concepts/spreads.html'],
    ['bigquery', '/docs/loader/warehouse.html'],
    ['limit cost', '/docs/engineer/cost.html'],
    ['api key', '/docs/engineer/schedule.html#secrets'],
  ])('for "%s" shows %s among the first three', (query, page) => {
    expect(find(query).slice(0, 3)).toContainEqual(expect.stringContaining(page));
  });
});

test("the page of the command line consists of lists without output or tables, so it doesn't scroll sideways", () => {
  const lines = readFileSync(packagePath('docs/reference/cli.md'), 'utf8').split('\n');
  expect(lines.filter((line) => line.startsWith('- `--')).length).toBeGreaterThan(100);
  expect(lines.filter((line) => /^(?:```|\|| {4})/u.test(line))).toEqual([]);
});
