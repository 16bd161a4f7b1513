import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The pages that README.md leads to, over any number of links, by their paths in the checkout. */
export function listPages(root) {
  const pages = new Set(['README.md']);
  // Also visits what is added meanwhile.
  for (const page of pages) {
    const text = readFileSync(path.join(root, page), 'utf8');
    for (const [, target] of text.matchAll(/\]\((?!\w+:)([^)\s#]+\.md)(?:#[^)\s]*)?\)/g)) {
      pages.add(path.posix.join(path.posix.dirname(page), target));
    }
  }
  return [...pages];
}

/** Globs of everything else, whatever lies in the checkout: vitepress would publish any Markdown. */
export function listOthers(root, pages, folder = '') {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (pages.includes(name)) return [];
    if (entry.isDirectory() && pages.some((page) => page.startsWith(`${name}/`))) return listOthers(root, pages, name);
    const glob = name.replaceAll(/[\\()[\]{}!*?@+|]/g, '\\$&');
    return [glob, `${glob}/**`];
  });
}
