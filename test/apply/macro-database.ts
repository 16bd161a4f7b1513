import { afterAll } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { createMacros } from '../../src/sql/model.js';

/** A database with the models' macros, and a way to apply one to many texts at once. */
export interface MacroDatabase {
  db: Database;
  /** The macro's results as text, in the order of the inputs; null for SQL NULL. */
  apply(macro: string, inputs: readonly (string | null)[]): Promise<(string | null)[]>;
}

export async function openMacros(): Promise<MacroDatabase> {
  const db = await Database.open();
  afterAll(() => db.close());
  await createMacros(db);
  return {
    db,
    async apply(macro, inputs) {
      await db.run('CREATE OR REPLACE TABLE inputs (n INTEGER, x VARCHAR)');
      const appender = await db.connection.createAppender('inputs');
      inputs.forEach((text, n) => {
        appender.appendInteger(n);
        if (text === null) appender.appendNull();
        else appender.appendVarchar(text);
        appender.endRow();
      });
      appender.closeSync();
      const rows = await db.rows(`SELECT CAST(${macro}(x) AS VARCHAR) AS y FROM inputs ORDER BY n`);
      return rows.map(({ y }) => y as string | null);
    },
  };
}
