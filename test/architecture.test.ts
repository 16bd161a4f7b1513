import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const decisions = readdirSync(root('docs/decisions')).filter((name) => name !== 'README.md');
const documents = ['ARCHITECTURE.md', 'README.md', 'CONTRIBUTING.md'];

test.each([...documents, ...decisions.map((name) => `docs/decisions/${name}`)])(
  'every file that %s mentions exists',
  (document) => {
    const text = readFileSync(root(document), 'utf8');
    const named = [...text.matchAll(/[`(]((?:src|pipelines|schemas|test|bench|docs)\/[\w./-]*\w)[`)]/g)].map(
      ([, path]) => path,
    );
    if (documents.includes(document)) expect(named.length).toBeGreaterThan(3);
    expect(named.filter((path) => !existsSync(root(path as string)))).toEqual([]);
  },
);

test('the index of decisions links to each page by its title', () => {
  const title = (name: string) =>
    readFileSync(root(`docs/decisions/${name}`), 'utf8')
      .split('\n', 1)[0]
      ?.slice(2);
  const links = [...readFileSync(root('docs/decisions/README.md'), 'utf8').matchAll(/^- \[(.*)\]\((.*)\)$/gm)];
  expect(links.map(([, text, name]) => `${name}: ${text}`).sort()).toEqual(
    decisions.map((name) => `${name}: ${title(name)}`).sort(),
  );
});

test.each(decisions)('%s has a question, a decision, reasons and a cost, in at most 150 words', (name) => {
  const text = readFileSync(root(`docs/decisions/${name}`), 'utf8');
  expect([...text.matchAll(/^\*\*(\w+)\.\*\* \S/gm)].map(([, part]) => part)).toEqual([
    'Question',
    'Decision',
    'Why',
    'Cost',
  ]);
  expect(text.split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(150);
});

test('shared test code sets up and cleans up when it is called, because its hooks would only run for the first file', () => {
  const names = readdirSync(root('test'), { recursive: true }).map(String);
  const shared = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  expect(shared.length).toBeGreaterThan(20);
  const hook = /^(before|after)(Each|All)\(/m;
  expect(shared.filter((name) => hook.test(readFileSync(root(`test/${name}`), 'utf8')))).toEqual([]);
  const mock = /^ *vi\.(mock|doMock)\(/m; // a module that another file has already loaded isn't mocked
  expect(names.filter((name) => name.endsWith('.ts') && mock.test(readFileSync(root(`test/${name}`), 'utf8')))).toEqual(
    [],
  );
});
