import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { lintProse } from '../../docs/lint-prose.js';
import { packagePath } from '../../src/io/package-path.js';

const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-prose-'));
afterAll(() => rm(folder, { recursive: true }));

async function lint(text: string): Promise<string[]> {
  const file = path.join(folder, 'page.md');
  await writeFile(file, text);
  return (await lintProse([file])).map((fault) => fault.replace(`${file}:`, ''));
}

const words = (count: number) => `${'Word '.repeat(count - 1)}word.`;

test.each([
  ['a paragraph', 'It begins\nanew.', 1],
  ['a heading', '# Begin anew', 1],
  ['an item of a list', 'Two:\n\n- one\n- Begin anew', 4],
  ['a table cell', '| a | b |\n| - | - |\n| c | begin anew |', 3],
  ['a quotation', 'Text.\n\n> Begin anew.', 3],
  ['the text of a link', '[Begin anew](page.md)', 1],
  ['emphasized words', 'Begin **anew**', 1],
  ['a container', '::: tip\nBegin anew.\n:::', 2],
])('a word of docs/style.yaml is found in %s, with its line and its replacement', async (_where, text, line) => {
  expect(await lint(text)).toEqual([`${line}: anew: write "again"`]);
});

test('code, fenced blocks and addresses are not checked as prose', async () => {
  expect(await lint('Type `anew`.\n\n```sh\nbegin anew\n```\n\n[a page](anew.md) ![picture](anew.png)')).toEqual([]);
});

test('a sentence has at most 35 words; headings and table cells are not counted as sentences', async () => {
  expect(await lint(`${words(35)} ${words(35)} "${words(40)}" \`a b\` 1 2 3.`)).toEqual([]);
  expect(await lint(`Short.\n\n- ${words(30)}\n- One ${words(35)}`)).toEqual([
    expect.stringMatching(/^4: 36 words in a sentence, and 35 are allowed: One Word Word/u),
  ]);
  expect(await lint(`# ${words(50)}\n\n| a |\n| - |\n| ${words(50)} |`)).toEqual([]);
});

test('no output on a page has zeros after the cents of an amount, because pricelake prints none', async () => {
  const pages = (await readdir(packagePath('docs'), { recursive: true })).filter((name) => name.endsWith('.md'));
  const found = pages.flatMap((page) => {
    const text = readFileSync(packagePath(`docs/${page}`), 'utf8');
    const outputs = [...text.matchAll(/^```text\n([\s\S]*?)^```/gmu)].map(([, output = '']) => output);
    return outputs.flatMap((output) => output.match(/.*\d\.\d\d00\b.*/gu) ?? []).map((line) => `${page}: ${line}`);
  });
  expect(pages.length).toBeGreaterThan(30);
  expect(found).toEqual([]);
});

test('comments in code are checked like pages, except diagrams and code in them', async () => {
  const file = path.join(folder, 'code.ts');
  const code = [
    '/**',
    ' * Begins anew.',
    ' *',
    ' *     anew | anew',
    ' * @param anew',
    ' */',
    "const address = 'http://x/anew'; // `anew`",
    '// How long it takes.',
    'const text = 1; // What it is.',
    '/** Says how. Of two, the first. */',
  ];
  await writeFile(file, code.join('\n'));
  expect((await lintProse([file])).map((fault) => fault.replace(`${file}:`, ''))).toEqual([
    '2: anew: write "again"',
    '5: anew: write "again"',
    '8: How: write "a subject and a verb"',
    '9: What: write "a subject and a verb"',
    '10: . Of: write "a subject and a verb"',
  ]);
});
