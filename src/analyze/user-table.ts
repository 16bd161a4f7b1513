import { PricelakeError } from '../io/errors.js';
import type { Database } from '../sql/connection.js';
import { quoteLiteral } from '../sql/quote.js';

/** A CSV file of the user's, and the table that its lines become. */
export interface UserTable {
  file: string;
  /** Name of the table. */
  name: string;
  /** Its rows in words, for the error of a file that can't be read. */
  rows: string;
  /** Columns that the file must have. */
  columns: readonly string[];
  /** Columns that it may have; text that is missing or empty is null. */
  optional?: readonly string[];
  /** SQL over a line: what is wrong with it, or null. */
  fault: string;
  /** SQL of the columns of the table. */
  select: string;
  hint: string;
}

/**
 * Loads lines that are all sound.
 * @throws PricelakeError `config` that names file and line of the first bad one
 */
export async function loadUserTable(db: Database, table: UserTable): Promise<void> {
  const { file, name, fault, select, hint } = table;
  await createLines(db, table);
  const bad = await db.row(`SELECT * FROM (SELECT line, ${fault} AS reason FROM user_lines)
    WHERE reason IS NOT NULL ORDER BY line LIMIT 1`);
  if (bad !== undefined) throw new PricelakeError('config', `${file}:${bad.line}: ${bad.reason}`, { hint });
  await db.run(`CREATE OR REPLACE TABLE ${name} AS SELECT ${select} FROM user_lines`);
  await db.run('DROP TABLE user_lines');
}

/** Reads the lines as text, numbered as in an editor. */
async function createLines(db: Database, { file, rows, columns, optional = [], hint }: UserTable): Promise<void> {
  try {
    await db.run(`CREATE OR REPLACE TABLE user_lines AS
      SELECT *, row_number() OVER () + 1 AS line
      FROM read_csv(${quoteLiteral(file)}, header = true, all_varchar = true, delim = ',', quote = '"', parallel = false)`);
  } catch (cause) {
    const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    throw new PricelakeError('config', `${file}: can't read ${rows}: ${reason}`, { hint }, { cause });
  }
  const names = (await db.rows('DESCRIBE user_lines')).map(({ column_name }) => String(column_name));
  const missing = columns.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new PricelakeError('config', `${file}:1: there is no column ${missing.join(', ')}`, { hint });
  }
  for (const name of optional)
    if (!names.includes(name)) await db.run(`ALTER TABLE user_lines ADD COLUMN ${name} VARCHAR`);
}
