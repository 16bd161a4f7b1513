import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Lists the paths of all pages that readers can reach from README.md by following links. */
export function listPages(root) {
  const pages = new Set(['README.md']);
  // The loop also visits pages that are added to the set while it runs.
  for (const page of pages) {
    const text = readFileSync(path.join(root, page), 'utf8');
    for (const [, target] of text.matchAll(/\]\((?!\w+:)([^)\s#]+\.md)(?:#[^)\s]*)?\)/g)) {
      pages.add(path.posix.join(path.posix.dirname(page), target));
    }
  }
  return [...pages];
}

/** Lists globs of all other files. Without them, vitepress would publish any Markdown file in the checkout. */
export function listOthers(root, pages, folder = '') {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (pages.includes(name)) return [];
    if (entry.isDirectory() && pages.some((page) => page.startsWith(`${name}/`))) return listOthers(root, pages, name);
    const glob = name.replaceAll(/[\\()[\]{}!*?@+|]/g, '\\$&');
    return [glob, `${glob}/**`];
  });
}
