import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readInMemory } from '../../src/cli/output/result-set.js';
import { writeTable } from '../../src/cli/output/table.js';
import { Database } from '../../src/sql/connection.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { fillOutputs, listBlocks } from './fenced-blocks.js';

const MOST_LINES = 10;

/**
 * docs/analyst/questions.md with its outputs generated: its `csv` blocks are files, its `sql` blocks run in their order in
 * plain DuckDB over the lake, and each `text` block becomes what the statement before it returns.
 * @param folder holds `lake/`
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

/** The SQL of the document that reads nothing but the lake, which `pricelake query` runs, too. */
export function listQueries(text: string): string[] {
  const statements = listBlocks(text).filter(({ language }) => language === 'sql');
  return statements.map(({ body }) => body).filter((sql) => !sql.includes('.csv'));
}

async function readCredits(db: Database): Promise<string[]> {
  const rows = await db.rows('SELECT DISTINCT attribution AS text FROM sites WHERE attribution IS NOT NULL');
  return rows.map(({ text }) => String(text));
}

/** DuckDB as a reader has it: nothing of ours but the file catalog.sql, from outside of the lake's folder. */
async function openCatalog(folder: string): Promise<Database> {
  const db = await Database.open();
  await db.run(`SET file_search_path = ${quoteLiteral(`${path.join(folder, 'lake')},${folder}`)}`);
  await db.run(await readFile(path.join(folder, 'lake/catalog.sql'), 'utf8'));
  return db;
}

/** As `pricelake query` prints it where no terminal is, without the credits underneath. */
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
