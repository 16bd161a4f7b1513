import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { packagePath } from '../../src/io/package-path.js';

const ROOT_PAGES = readdirSync(packagePath('.')).filter((name) => name.endsWith('.md'));
const PAGES = readdirSync(packagePath('docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => path.posix.join('docs', name.replaceAll('\\', '/')));
const ALL = [...ROOT_PAGES, ...PAGES, 'bench/README.md'].sort();

const read = (page: string) => readFileSync(packagePath(page), 'utf8');
/** Reads a page without code, where brackets mean something else. */
const readProse = (page: string) =>
  read(page)
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, 'code');

/** The anchor of a heading, as GitHub makes it. */
const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

function listAnchors(page: string): string[] {
  const prose = read(page).replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => toAnchor(heading));
}

function listLinks(page: string): string[] {
  return [...readProse(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

describe('links', () => {
  test.each(ALL)('in %s lead to files and headings that exist', (page) => {
    const broken = listLinks(page).filter((target) => {
      if (/^(https?|mailto):/.test(target)) return false;
      const [file = '', anchor] = target.split('#');
      const linked = file === '' ? page : path.posix.join(path.posix.dirname(page), decodeURI(file));
      // A folder is not a page of the site.
      if (statSync(packagePath(linked), { throwIfNoEntry: false })?.isFile() !== true) return true;
      return anchor !== undefined && !listAnchors(linked).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  test('in docs/README.md lead to every page', () => {
    const linked = listLinks('docs/README.md').map((target) => path.posix.join('docs', target));
    const pages = PAGES.filter((page) => !page.startsWith('docs/decisions/') && page !== 'docs/README.md');
    expect(linked).toEqual(expect.arrayContaining(pages));
  });
});
