import { createReadStream } from 'node:fs';
import { PricelakeError } from '../io/errors.js';
import { requireUtf8 } from '../io/user-text.js';
import type { Statements } from '../sql/connection.js';
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
export async function loadUserTable(db: Statements, table: UserTable): Promise<void> {
  const { file, name, fault, select, hint } = table;
  await readUserLines(db, { ...table, lines: 'user_lines' });
  const bad = await db.row(`SELECT * FROM (SELECT line, ${fault} AS reason FROM user_lines)
    WHERE reason IS NOT NULL ORDER BY line LIMIT 1`);
  if (bad !== undefined) throw new PricelakeError('config', `${file}:${bad.line}: ${bad.reason}`, { hint });
  await db.run(`CREATE OR REPLACE TABLE ${name} AS SELECT ${select} FROM user_lines`);
  await db.run('DROP TABLE user_lines');
}

/** A CSV file whose lines are read as text. */
export interface UserLines extends Pick<UserTable, 'file' | 'rows' | 'columns' | 'optional' | 'hint'> {
  /** Name of the table that gets them. */
  lines: string;
  delimiter?: string;
  /** True if `Lowest` names column lowest. */
  isAnyCase?: boolean;
}

/**
 * Reads the lines as text, numbered as in an editor.
 * @throws PricelakeError `config` if the file is no CSV, or lacks a column
 */
export async function readUserLines(
  db: Statements,
  { file, rows, columns, optional = [], hint, lines, delimiter = ',', isAnyCase = false }: UserLines,
): Promise<void> {
  // A file that can't be opened is DuckDB's to explain.
  await requireUtf8(file).catch((error: unknown) => {
    if (error instanceof PricelakeError) throw error;
  });
  try {
    await db.run(`CREATE OR REPLACE TABLE ${lines} AS
      SELECT row_number() OVER () + 1 AS line, *
      FROM read_csv(${quoteLiteral(file)}, header = true, all_varchar = true, delim = ${quoteLiteral(delimiter)}, quote = '"', normalize_names = ${isAnyCase}, parallel = false)`);
  } catch (cause) {
    // A file that can't be read has no such line; DuckDB's own reason says why.
    const wrong = await findLineEndFault(file).catch(() => undefined);
    if (wrong !== undefined) throw new PricelakeError('config', `${file}:${wrong}`, { hint }, { cause });
    const [reason = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    throw new PricelakeError('config', `${file}: can't read ${rows}: ${reason}`, { hint }, { cause });
  }
  const names = (await db.rows(`DESCRIBE ${lines}`)).map(({ column_name }) => String(column_name));
  const missing = columns.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new PricelakeError('config', `${file}:1: there is no column ${missing.join(', ')}`, { hint });
  }
  for (const name of optional)
    if (!names.includes(name)) await db.run(`ALTER TABLE ${lines} ADD COLUMN ${name} VARCHAR`);
}

const [RETURN, NEWLINE, QUOTE] = [0x0d, 0x0a, 0x22];

/** DuckDB names no line if ends differ. Returns the first such line, and what is wrong with it. */
async function findLineEndFault(file: string): Promise<string | undefined> {
  let [line, isQuoted, last] = [1, false, 0];
  let hasReturns: boolean | undefined;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    for (const byte of chunk) {
      if (byte === QUOTE) isQuoted = !isQuoted;
      if (last === RETURN && byte !== NEWLINE && !isQuoted)
        return `${line}: a carriage return has no newline behind it`;
      if (byte === NEWLINE) {
        hasReturns ??= last === RETURN;
        if (hasReturns !== (last === RETURN) && !isQuoted)
          return `${line}: the line ends ${hasReturns ? 'without' : 'with'} a carriage return, unlike the first`;
        line += 1;
      }
      last = byte;
    }
  }
  return undefined;
}
