import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { writeForMachines } from './machines.mjs';
import { listOthers, listPages } from './pages.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the sidebar from the headings and links of docs/README.md, so the index and the navigation can't differ. */
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

/** Makes the same anchors as GitHub, because the pages' links must work in both places. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** Ranks guides above background pages in search results. Otherwise, the changelog would match almost any word. */
const boostDocument = (id) => (/^\/(?:CHANGELOG|SPEC|bench|docs\/(?:background|decisions))\b/.test(id) ? 0.3 : 1);

/** Links to index.md instead of README.md. GitHub shows a folder's README.md, and the site shows its index.md. */
function linkFolders(md) {
  md.core.ruler.push('link-folders', ({ tokens }) => {
    for (const link of tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open')) {
      link.attrSet('href', link.attrGet('href').replace(/\bREADME\.md(?=#|$)/, 'index.md'));
    }
  });
}

/** The site's home page. It is not in README.md, because GitHub would show it as plain data. */
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
  description: 'An exact copy of the Price and Product Data API in Parquet, and what it shows about prices.',
  // Set DOCS_BASE=/pricelake/ to serve the site from that path instead of the root of its host.
  base: process.env.DOCS_BASE ?? '/',
  srcDir: '..',
  srcExclude: listOthers(ROOT, listPages(ROOT)),
  // Otherwise, vite would publish the files of a folder named `public` in the checkout.
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
