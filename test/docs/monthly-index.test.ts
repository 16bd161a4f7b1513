import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { listBlocks } from '../../docs/render/fenced-blocks.js';
import { packagePath } from '../../src/io/package-path.js';
import { publishLake } from '../cli/lake-fixture.js';
import { runHere } from '../cli/pricelake.js';
import { splitShell } from './shell-words.js';

const page = readFileSync(packagePath('docs/analyst/measure-prices.md'), 'utf8');
const [commands, weights, tree] = listBlocks(page.slice(page.indexOf('## A monthly index in ten commands')));
const folder = await mkdtemp(join(tmpdir(), 'pricelake-monthly-'));
const listing = (id: number, slug: string) => ({
  ...{ item_id: String(id), product_id: `'p${id}'`, gtin: 'NULL', gtin14: 'NULL', price: '12', previous_price: '10' },
  ...{ category_slug: `'${slug}'`, category_name: "'Food'", category_path: "'Food'" },
  ...{ price_changed_at: "TIMESTAMPTZ '2026-10-01 00:00:00Z'", last_seen_at: "TIMESTAMPTZ '2026-11-01 12:00:00Z'" },
});
const lake = await publishLake([listing(1, 'hot-drinks-ground-coffee'), listing(2, 'sugar-cane-sugar')]);
afterAll(() => rm(folder, { recursive: true }));

test('a statistician gets from installation to a monthly index with weights in ten commands', async () => {
  await writeFile(join(folder, 'weights.csv'), weights?.body ?? '');
  await writeFile(join(folder, 'coicop.csv'), tree?.body ?? '');
  const lines = splitShell(commands?.body ?? '');
  expect(lines.length).toBeLessThanOrEqual(10);
  expect(lines[0]?.join(' ')).toBe('npm install -g pricelake');
  const outputs: string[] = [];
  for (const line of lines.slice(1)) {
    const [program, ...words] = line;
    expect(program).toBe('pricelake');
    // The real parser takes each command; those that need the service are only parsed.
    const args = words[0] === 'query' ? [...words, '--lake', lake] : [...words, '--help'];
    const { code, stdout, stderr } = await runHere(args, { cwd: folder });
    expect([line, code, code === 0 ? '' : stderr]).toEqual([line, 0, '']);
    outputs.push(stdout);
  }
  expect(outputs.join('\n')).toMatch(/01\.2\.1 .*120/u);
  const bytes = readFileSync(join(folder, 'index-2026-10.parquet'));
  expect(bytes.subarray(0, 4).toString()).toBe('PAR1');
  expect(bytes.toString('latin1')).toContain('"splice":"fbew"');
});
