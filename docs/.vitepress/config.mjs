import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { writeForMachines } from './machines.mjs';
import { listOthers, listPages } from './pages.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The pages that docs/README.md links, by its headings: the index and the navigation are one list. */
function readSidebar() {
  const index = readFileSync(path.join(ROOT, 'docs/README.md'), 'utf8');
  const sections = index.split(/^## /m).slice(1);
  return sections.map((section) => {
    const items = [...section.matchAll(/^- \[(.+)\]\((.+)\)$/gm)];
    return {
      text: section.split('\n', 1)[0],
      collapsed: false,
      items: items.map(([, text, page]) => ({ text, link: toPath(page) })),
    };
  });
}

const toPath = (page) => new URL(page.replace('README.md', 'index.md').replace(/\.md$/, ''), 'file:///docs/').pathname;

/** Anchors as GitHub makes them, which the links between the pages use. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** Pages of what was, and of why, stand behind those of what to do: the changelog has a word for everything. */
const boostDocument = (id) => (/^\/(?:CHANGELOG|SPEC|bench|docs\/(?:background|decisions))\b/.test(id) ? 0.3 : 1);

/** README.md is the page of a folder on GitHub; on the site that is index.md. */
function linkFolders(md) {
  md.core.ruler.push('link-folders', ({ tokens }) => {
    for (const link of tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open')) {
      link.attrSet('href', link.attrGet('href').replace(/\bREADME\.md(?=#|$)/, 'index.md'));
    }
  });
}

/** The first page of the site. GitHub shows README.md without it, so it stands here. */
const HOME = {
  layout: 'home',
  hero: {
    name: 'pricelake',
    text: 'Shop prices, exact and yours',
    tagline:
      'Keeps an exact copy of the Price and Product Data API in Parquet, and shows how prices differ between shops.',
    actions: [
      { theme: 'brand', text: 'Tutorial, 20 minutes', link: '/docs/tutorial' },
      { theme: 'alt', text: 'All pages', link: '/docs/' },
    ],
  },
  features: [
    {
      title: 'You run it',
      details:
        'Schedules, the cost of a run, monitoring, recovery. A run copies what changed and stops before it exceeds its budget.',
      link: '/docs/engineer',
    },
    {
      title: 'You ask',
      details:
        'Spreads with a grade of trust, indices, your own price list: in SQL, on the command line, or in a browser.',
      link: '/docs/analyst',
    },
    {
      title: 'You move it on',
      details: 'PostgreSQL, Snowflake, BigQuery, Redshift, Databricks, pandas, Spark, object storage.',
      link: '/docs/loader',
    },
    {
      title: 'You change it',
      details: 'Add a check, a column, a table or an analysis: a file each, and tests that say what is missing.',
      link: '/docs/contributor',
    },
  ],
};

export default defineConfig({
  title: 'pricelake',
  description: 'An exact copy of the Price and Product Data API in Parquet, and what it tells about prices.',
  // For a site that is not at the root of its host: DOCS_BASE=/pricelake/
  base: process.env.DOCS_BASE ?? '/',
  srcDir: '..',
  srcExclude: listOthers(ROOT, listPages(ROOT)),
  // A folder `public` of the checkout would be published as it is.
  vite: { publicDir: false },
  rewrites: (page) => page.replace(/(^|\/)README\.md$/, '$1index.md'),
  transformPageData: ({ relativePath, frontmatter }) =>
    relativePath === 'index.md' ? { frontmatter: { ...frontmatter, ...HOME } } : undefined,
  outDir: '../docs-site',
  cacheDir: './.vitepress/cache',
  lastUpdated: false,
  buildEnd: ({ outDir, site }) => writeForMachines(ROOT, listPages(ROOT), { outDir, base: site.base }),
  markdown: { html: false, anchor: { slugify }, languageAlias: { duckdb: 'sql', crontab: 'sh' }, config: linkFolders },
  themeConfig: {
    search: { provider: 'local', options: { miniSearch: { searchOptions: { boostDocument } } } },
    outline: [2, 3],
    nav: [
      { text: 'Tutorial', link: '/docs/tutorial' },
      { text: 'Engineer', link: '/docs/engineer', activeMatch: '/docs/engineer' },
      { text: 'Analyst', link: '/docs/analyst', activeMatch: '/docs/analyst' },
      { text: 'Loader', link: '/docs/loader', activeMatch: '/docs/loader' },
      { text: 'Contributor', link: '/docs/contributor', activeMatch: '/docs/contributor' },
      { text: 'Reference', link: '/docs/reference/cli', activeMatch: '/docs/reference/' },
      { text: 'Changes', link: '/CHANGELOG' },
    ],
    sidebar: readSidebar(),
  },
});
