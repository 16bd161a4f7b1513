import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readPipeline } from '../../src/config/pipeline-file.js';

const folder = await mkdtemp(join(tmpdir(), 'pricelake-user-matches-'));
afterAll(() => rm(folder, { recursive: true }));
const file = join(folder, 'matches.csv');

/** Returns the matches that a pipeline file with these lines yields. */
async function read(lines: string[], header = 'product,other,match'): Promise<string[] | undefined> {
  await writeFile(file, [header, ...lines].join('\n'));
  const pipeline = join(folder, 'prices.yaml');
  await writeFile(
    pipeline,
    `source: { baseUrl: "http://localhost", apiKey: "\${KEY}" }\nlake: { path: ./lake }\nanalysis: { matches: ${file} }\n`,
  );
  const { userMatches } = await readPipeline(pipeline, { KEY: 'key' });
  return userMatches?.map(({ productId, otherId, isMatch }) => `${productId} ${isMatch ? '=' : '≠'} ${otherId}`);
}

test("uses a product's GTIN as the representative of its group, and follows chains of matches", async () => {
  expect(await read(['acme-b,acme-a,yes', 'acme-b,acme-c,YES', 'x-1,0004006381333931,yes', 'x-1,x-0,yes'])).toEqual([
    'acme-b = acme-a',
    'acme-c = acme-a',
    'x-1 = 4006381333931',
    'x-0 = 4006381333931',
  ]);
});

test('ignores lines without a decision, other columns and repeated lines', async () => {
  const header = '\ufeffother,title,Match ,product';
  const lines = ['b-1,"Pen, ""red""\nand blue",no,a-1', 'a-1,,no,b-1', 'c-1,Pen,,a-1', '', 'a-1,Pen, ,a-1'];
  expect(await read(lines, header)).toEqual(['b-1 ≠ a-1']);
});

test.each([
  [['a-1,b-1,yes', 'b-1,a-1,no'], 3, "b-1 and a-1 don't match, but line 2 lists them as a match", 'line 2 or 3'],
  [
    ['a-1,b-1,no', 'a-1,c-1,yes', 'z-1,a-1,yes', 'b-1,c-1,yes'],
    2,
    'but lines 3, 5 list them as a match',
    'line 3 or 5 or 2',
  ],
  [['a-1,b-1,maybe'], 2, 'match "maybe" is not yes, no or empty', 'product,other,match'],
  [['a-1,,yes'], 2, 'needs two products', 'product,other,match'],
  [['', '007,7,yes'], 3, 'lists 7 twice', 'product,other,match'],
  [['a-1,"b-1,yes'], 2, 'is not valid CSV', 'product,other,match'],
])('%j is refused with its line', async (lines, line, what, hint) => {
  await expect(read(lines)).rejects.toMatchObject({
    code: 'config',
    message: expect.stringMatching(`^${file}:${line}: .*${what}`),
    facts: { hint: expect.stringContaining(hint) },
  });
});

test('refuses a missing column and a missing file', async () => {
  await expect(read([], 'product,match')).rejects.toThrow(`${file}:1: missing column other`);
  const none = join(folder, 'none.csv');
  const pipeline = join(folder, 'prices.yaml');
  await writeFile(
    pipeline,
    `source: { baseUrl: "http://localhost", apiKey: "\${KEY}" }\nlake: { path: ./lake }\nanalysis: { matches: ${none} }\n`,
  );
  await expect(readPipeline(pipeline, { KEY: 'key' })).rejects.toThrow(`${none}: can't read matches`);
});
