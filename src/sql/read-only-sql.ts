import { type DuckDBConnection, type DuckDBPreparedStatement, StatementType } from '@duckdb/node-api';
import { PricelakeError } from '../io/errors.js';
import type { Database } from './connection.js';
import { escapeGlob, quoteList } from './quote.js';

/**
 * Permanently limits SQL on this database to the given folders and files. Also allows each folder's path with escaped
 * patterns, because pricelake's views use this form, and DuckDB compares paths before it unescapes them.
 */
export async function lockDown(db: Database, folders: string[], files: string[] = []): Promise<void> {
  const spelled = new Set([...folders, ...folders.map(escapeGlob)]);
  await db.run(`SET allowed_directories = ${quoteList([...spelled])}`);
  await db.run(`SET allowed_paths = ${quoteList(files)}`);
  await db.run('SET enable_external_access = false');
  await db.run('SET lock_configuration = true');
}

const READING = /^[\s(]*(?:SELECT|FROM|WITH|VALUES|TABLE|PIVOT|UNPIVOT|DESCRIBE|DESC|SHOW|SUMMARIZE)\b/iu;
const EXPLAINING = /^\s*EXPLAIN\s+(?:ANALYZE\s+)?/iu;
const LEADING_COMMENTS = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/u;

/**
 * Prepares one read-only statement. `lockDown` limits the files that a statement can reach. This function rejects
 * statements that could write to these files, such as COPY.
 * @throws PricelakeError `query` if the SQL isn't a single SELECT or EXPLAIN of a SELECT
 */
export async function prepareSelect(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
  const { statements, explains, read } = await parseReading(connection, sql);
  const statement = await statements.prepare(0);
  const wanted = explains ? StatementType.EXPLAIN : StatementType.SELECT;
  // Also checks the explained statement, because EXPLAIN ANALYZE runs it, and WITH may introduce an INSERT.
  if (explains) await prepareSelect(connection, read);
  if (statement.statementType !== wanted) throw refuse(StatementType[statement.statementType] ?? 'this statement');
  return statement;
}

/**
 * Parses one statement, which must start with a keyword such as SELECT. Doesn't prepare the statement.
 * @throws PricelakeError `query`
 */
export async function parseReading(connection: DuckDBConnection, sql: string) {
  const statements = await extractStatements(connection, sql);
  if (statements.count !== 1) {
    throw new PricelakeError('query', `found ${statements.count} statements, but only one SELECT can run at a time`);
  }
  // Checks the keyword before the statement is prepared, because preparing EXPORT DATABASE creates a folder.
  const explains = EXPLAINING.test(sql.replace(LEADING_COMMENTS, ''));
  const read = sql.replace(LEADING_COMMENTS, '').replace(EXPLAINING, '').replace(LEADING_COMMENTS, '');
  if (!READING.test(read)) throw refuse(read);
  return { statements, explains, read };
}

function refuse(statement: string): PricelakeError {
  const [word = 'this statement'] = statement.trim().split(/\s/u, 1);
  return new PricelakeError('query', `${word.toUpperCase()} is not allowed, because queries can only read`, {
    hint: 'Use a single SELECT.',
  });
}

async function extractStatements(connection: DuckDBConnection, sql: string) {
  try {
    return await connection.extractStatements(sql);
  } catch (cause) {
    // If the text contains no statement, DuckDB's bindings throw an error without details.
    const empty = cause instanceof Error && cause.message === 'Error in native callback';
    throw empty ? new PricelakeError('query', 'the SQL contains no statement', {}, { cause }) : cause;
  }
}
