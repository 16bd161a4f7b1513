import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** Section → its sentences with their tests. */
const sections = read('checklist.md')
  .split(/^## /m)
  .slice(1)
  .map((text) => [text.split('\n')[0] ?? '', [...text.matchAll(/^- .* → (\S+\.test\.ts): (.+)$/gm)]] as const)
  .filter(([title]) => title.startsWith('§'));

describe('the checklist of the API document', () => {
  it('covers all nine sections', () => {
    expect(sections.map(([title]) => title[1])).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });

  it.each(sections)('%s: every quoted test exists', (_, entries) => {
    expect(entries.length).toBeGreaterThan(1);
    const missing = entries.filter(([, file = '', title]) => !read(file).includes(`'${title}'`));
    expect(missing.map(([line]) => line)).toEqual([]);
  });
});
