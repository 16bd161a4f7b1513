import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readInMemory } from '../../src/cli/output/result-set.js';
import { writeTable } from '../../src/cli/output/table.js';
import { Database } from '../../src/sql/connection.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { fillOutputs, listBlocks } from './fenced-blocks.js';

const MOST_LINES = 10;

/**
 * Generates the outputs in docs/analyst/questions.md. `csv` blocks are files, `sql` blocks run in order in plain DuckDB
 * on the lake, and each `text` block becomes the result of the statement before it.
 * @param folder contains `lake/`
 */
export async function renderQuestions(text: string, folder: string): Promise<string> {
  const db = await openCatalog(folder);
  const credits = await readCredits(db);
  try {
    let output = '';
    return await fillOutputs(text, async ({ language, file, body }) => {
      if (language === 'csv') await writeFile(path.join(folder, file), body);
      if (language === 'sql') output = await runAsTable(db, body, credits);
      if (language !== 'text') return undefined;
      if (output === '') throw new Error('docs/analyst/questions.md: a text block before any statement');
      return output;
    });
  } finally {
    await db.close();
  }
}

/** Lists the page's SQL statements that read only the lake, so that `pricelake query` can run them too. */
export function listQueries(text: string): string[] {
  const statements = listBlocks(text).filter(({ language }) => language === 'sql');
  return statements.map(({ body }) => body).filter((sql) => !sql.includes('.csv'));
}

async function readCredits(db: Database): Promise<string[]> {
  const rows = await db.rows('SELECT DISTINCT attribution AS text FROM sites WHERE attribution IS NOT NULL');
  return rows.map(({ text }) => String(text));
}

/** Opens a plain DuckDB with catalog.sql, from outside the lake's folder, as a reader would. */
async function openCatalog(folder: string): Promise<Database> {
  const db = await Database.open();
  await db.run(`SET file_search_path = ${quoteLiteral(`${path.join(folder, 'lake')},${folder}`)}`);
  await db.run(await readFile(path.join(folder, 'lake/catalog.sql'), 'utf8'));
  return db;
}

/** Formats rows as `pricelake query` does without a terminal, but without the credits below the table. */
async function runAsTable(db: Database, sql: string, credits: string[]): Promise<string> {
  let text = '';
  const write = async (chunk: string | Uint8Array) => {
    text += chunk;
    return true;
  };
  const result = await readInMemory({ run: () => db.connection.run(sql) });
  await writeTable({ ...result, credits }, { columns: undefined, write });
  const lines = text.trimEnd().split('\n');
  const shown = lines.slice(0, MOST_LINES + 2).map((line) => line.trimEnd());
  return `${[...shown, ...(lines.length > shown.length ? ['…'] : [])].join('\n')}\n`;
}
