import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Returns a page's path on the site, where a folder's page is index.md instead of README.md. */
const toIndex = (page) => page.replace(/(^|\/)README\.md/u, '$1index.md');

/** Returns a page's Markdown with its links to README.md changed to index.md. */
const toTwin = (text) => text.replaceAll(/\]\((?!\w+:)([^)\s]*?)README\.md/gu, ']($1index.md');

const readTitle = (text) => /^# (.+)$/mu.exec(text)?.[1] ?? '';

/** Returns the text of `llms.txt` (llmstxt.org): what pricelake is, and links to all pages in the index's order. */
export function writeIndex(root, pages, base) {
  const read = (page) => readFileSync(path.join(root, page), 'utf8');
  const index = read('docs/README.md');
  const intro = /^pricelake .+$/mu.exec(read('README.md'))?.[0] ?? '';
  const listed = new Set();
  const link = (text, page) => {
    listed.add(page);
    return `- [${text}](${base}${toIndex(page)})`;
  };
  const sections = index
    .split(/^## /mu)
    .slice(1)
    .map((section) => {
      const [heading] = section.split('\n', 1);
      const links = [...section.matchAll(/^- \[(.+)\]\(([^)#]+)\)$/gmu)];
      const lines = links.map(([, text, page]) => link(text, path.posix.normalize(`docs/${page}`)));
      return `## ${heading}\n\n${lines.join('\n')}`;
    });
  const others = pages.filter((page) => !listed.has(page)).map((page) => link(readTitle(read(page)), page));
  return `# pricelake\n\n> ${intro}\n\n${sections.join('\n\n')}\n\n## Optional\n\n${others.join('\n')}\n`;
}

/** Writes each page's Markdown next to its HTML, and writes `llms.txt`, which links to these files. */
export function writeForMachines(root, pages, { outDir, base }) {
  for (const page of pages) {
    const file = path.join(outDir, toIndex(page));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, toTwin(readFileSync(path.join(root, page), 'utf8')));
  }
  writeFileSync(path.join(outDir, 'llms.txt'), writeIndex(root, pages, base));
}
