import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeQuestionLake, type QuestionLake } from '../../docs/render/question-lake.js';
import { listQueries, renderQuestions } from '../../docs/render/questions.js';
import { readLake } from '../../src/cli/read-lake.js';
import { packagePath } from '../../src/io/package-path.js';
import { lockDown, prepareSelect } from '../../src/sql/read-only-sql.js';
import { tablePath } from '../../src/tables/layout.js';
import { TABLE_NAMES } from '../../src/tables/table.js';

const text = readFileSync(packagePath('docs/analyst/questions.md'), 'utf8');
let lake: QuestionLake;
beforeAll(async () => {
  lake = await makeQuestionLake();
});
afterAll(() => lake.close());

describe('docs/analyst/questions.md', () => {
  test('shows the results of its SQL in plain DuckDB with catalog.sql: npm run docs', async () => {
    expect(text).toBe(await renderQuestions(text, lake.folder));
  });

  test('has SQL that pricelake query can also run if it reads only the lake', async () => {
    await readLake({ path: join(lake.folder, 'lake'), signal: new AbortController().signal }, async (opened) => {
      const { db, scratch } = opened;
      const folders = TABLE_NAMES.map((table) => tablePath(opened.lake, table));
      await lockDown(db, folders, [scratch]);
      for (const sql of listQueries(text)) {
        const rows = (await (await prepareSelect(db.connection, sql)).runAndReadAll()).getRows();
        expect(rows.length, sql).toBeGreaterThan(0);
      }
    });
  });

  test('answers at least ten questions, each in words and with hints on common mistakes', () => {
    const questions = text.split(/^## /mu).filter((section) => section.includes('```sql'));
    expect(questions.length).toBeGreaterThanOrEqual(10);
    for (const question of questions) {
      expect(question, question).toMatch(/^[^\n]+\n\n[^`]*\?/u);
      expect(question, question).toMatch(/\n```\n\n(?!```)\S/u);
    }
  });

  test('is linked from the pages where an analyst starts', () => {
    expect(readFileSync(packagePath('README.md'), 'utf8')).toContain('docs/analyst/questions.md');
  });
});
