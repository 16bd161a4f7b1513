import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { packagePath } from '../../src/io/package-path.js';

const TOLD = ['docs', 'pipelines', 'man', 'src', 'bench', '.github'].flatMap((folder) =>
  readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.vitepress\b|\.work/.test(entry.parentPath))
    .map(({ parentPath, name }) => `${parentPath}/${name}`),
);
const PAGES = readdirSync(packagePath('.'))
  .filter((name) => name.endsWith('.md'))
  .map(packagePath);

/** Finds the text in pages, files for schedulers, help and messages. */
function find(pattern: RegExp): string[] {
  return [...PAGES, ...TOLD].flatMap((file) =>
    (readFileSync(file, 'utf8').match(pattern) ?? []).map((text) => `${file}: ${text}`),
  );
}

describe('nothing tells the user', () => {
  test('to replace or remove all cron jobs', () => {
    expect(find(/^.*(?<![/\w])crontab (?:-r|(?:-u \w+ )?(?:-(?!\w)|[\w~"$]*[/.]\S)).*$/gm)).toEqual([]);
  });

  test('to run a registry package that anyone may own', () => {
    expect(find(/^.*\bnpx (?:-\S+ )*pricelake\b.*$/gm)).toEqual([]);
  });
});
