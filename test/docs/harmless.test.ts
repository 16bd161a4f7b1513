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

/** Places in pages, files for schedulers, help and messages that have the text. */
function find(pattern: RegExp): string[] {
  return [...PAGES, ...TOLD].flatMap((file) =>
    (readFileSync(file, 'utf8').match(pattern) ?? []).map((text) => `${file}: ${text}`),
  );
}

describe('nothing tells the reader', () => {
  test('to replace or remove all jobs of cron', () => {
    expect(find(/^.*(?<![/\w])crontab (?:-r|(?:-u \w+ )?(?:-(?!\w)|[\w~"$]*[/.]\S)).*$/gm)).toEqual([]);
  });

  test('to run a package of the registry that anybody may own', () => {
    expect(find(/^.*\bnpx (?:-\S+ )*pricelake\b.*$/gm)).toEqual([]);
  });
});
