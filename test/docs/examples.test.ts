import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { listHelps } from '../../docs/render/cli.js';
import { listBlocks } from '../../docs/render/fenced-blocks.js';
import { Database } from '../../src/duckdb/connection.js';
import { quoteIdentifier } from '../../src/duckdb/quote.js';
import { packagePath } from '../../src/io/package-path.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES } from '../../src/tables/table.js';

const GUIDES = ['guides', 'concepts'].flatMap((folder) =>
  readdirSync(packagePath(path.join('docs', folder))).map((name) => `docs/${folder}/${name}`),
);
const PAGES = ['README.md', 'docs/tutorial.md', ...GUIDES];
/** Other tests run the SQL of these. */
const RUN_ELSEWHERE = ['docs/guides/questions.md', 'docs/guides/measure-prices.md'];

const readBlocks = (page: string, language: string) =>
  listBlocks(readFileSync(packagePath(page), 'utf8'))
    .filter((block) => block.language === language)
    .map(({ body }) => body);

describe('the commands of the pages', () => {
  let helps: Map<string, string>;
  beforeAll(async () => {
    helps = new Map((await listHelps()).map(({ name, help }) => [name, help]));
  });

  test.each(PAGES)('of %s are there, with their options', (page) => {
    const commands = readBlocks(page, 'sh').flatMap((body) => [...body.matchAll(/\bpricelake ([a-z][^\n|;#&]*)/g)]);
    for (const [, line = ''] of commands) {
      const words = line.replaceAll(/"[^"]*"|'[^']*'/g, 'TEXT').split(/\s+/);
      const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((known) => helps.has(known));
      expect(name, line).toBeDefined();
      const help = helps.get(name ?? '') ?? '';
      const unknown = words.filter(
        (word) => word.startsWith('--') && !new RegExp(`${word.split('=')[0]}\\s`).test(help),
      );
      expect(unknown, line).toEqual([]);
    }
  });
});

test('the SQL of the guides fits the tables', async () => {
  const db = await Database.open();
  try {
    for (const table of TABLE_NAMES) {
      const columns = loadTableSchema(table).columns.map(({ name, type }) => `${quoteIdentifier(name)} ${type}`);
      await db.run(`CREATE TABLE ${quoteIdentifier(table)} (${columns.join(', ')})`);
    }
    const statements = GUIDES.filter((page) => !RUN_ELSEWHERE.includes(page)).flatMap((page) =>
      readBlocks(page, 'sql').map((sql) => [page, sql.replaceAll(/\$\w+/g, '1')] as const),
    );
    expect(statements.length).toBeGreaterThan(2);
    for (const [page, sql] of statements) {
      await db.run(`EXPLAIN ${sql}`).catch((cause: Error) => expect.unreachable(`${page}: ${cause.message}\n${sql}`));
    }
  } finally {
    await db.close();
  }
});
