import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listBlocks } from '../../docs/render/fenced-blocks.js';
import { packagePath } from '../../src/io/package-path.js';
import { Database } from '../../src/sql/connection.js';
import { quoteIdentifier } from '../../src/sql/quote.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES } from '../../src/tables/table.js';

const PAGES = readdirSync(packagePath('docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
/** Other tests run the SQL of these pages. */
const RUN_ELSEWHERE = ['docs/analyst/questions.md', 'docs/analyst/measure-prices.md'];

const readBlocks = (page: string, language: string) =>
  listBlocks(readFileSync(packagePath(page), 'utf8'))
    .filter((block) => block.language === language)
    .map(({ body }) => body);

test('the SQL in the pages fits the tables', async () => {
  const db = await Database.open();
  try {
    for (const table of TABLE_NAMES) {
      const columns = loadTableSchema(table).columns.map(({ name, type }) => `${quoteIdentifier(name)} ${type}`);
      await db.run(`CREATE TABLE ${quoteIdentifier(table)} (${columns.join(', ')})`);
    }
    const statements = PAGES.filter((page) => !RUN_ELSEWHERE.includes(page)).flatMap((page) =>
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
