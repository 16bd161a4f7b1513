import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StatementType } from '@duckdb/node-api';
import { hasSystemCode, PricelakeError } from '../io/errors.js';
import { packagePath } from '../io/package-path.js';
import { Database } from '../sql/connection.js';
import { quoteIdentifier } from '../sql/quote.js';
import { loadTableSchema } from '../tables/schemas.js';
import { TABLE_NAMES } from '../tables/table.js';
import { type Check, explainCheckError } from './check.js';
import { parseCheck } from './parse.js';

/**
 * Loads the checks that come with pricelake, then each `*.sql` file in `folder`, both sorted by name.
 * @throws PricelakeError `config` for a malformed header or SQL that can't run (with file and line), for a name that
 * occurs twice (with both files), and for a folder that can't be read
 */
export async function loadChecks(folder?: string): Promise<Check[]> {
  const shipped = await readFolder(packagePath('pipelines/checks'));
  if (folder === undefined) return shipped;
  // A user's check always reads all rows, because its query may read rows outside the scope that it declares.
  const own = (await readFolder(folder)).map((check) => ({ ...check, scope: undefined }));
  const checks = new Map(shipped.map((check) => [check.name, check]));
  for (const check of own) {
    const other = checks.get(check.name);
    if (other !== undefined) {
      throw new PricelakeError('config', `${check.file}: the ${check.name} check is also defined in ${other.file}`);
    }
    checks.set(check.name, check);
  }
  await bindChecks(own);
  return [...checks.values()];
}

async function readFolder(directory: string): Promise<Check[]> {
  const names = await listFiles(directory);
  return Promise.all(
    names.map(async (name) => {
      const file = join(directory, name);
      return parseCheck(await readFile(file, 'utf8'), file);
    }),
  );
}

async function listFiles(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'ENOTDIR', 'EACCES')) throw cause;
    throw new PricelakeError('config', `${directory}: can't read checks from this folder`, {}, { cause });
  }
}

/**
 * Throws if a check isn't a single SELECT that fits the tables in schemas/. Runs before a sync, because the checks
 * themselves run at its end, when a complete copy may have been paid for.
 * @throws PricelakeError `config` with file and line
 */
async function bindChecks(checks: readonly Check[]): Promise<void> {
  if (checks.length === 0) return;
  const db = await Database.open();
  try {
    for (const table of TABLE_NAMES) {
      const columns = loadTableSchema(table).columns.map(({ name, type }) => `${quoteIdentifier(name)} ${type}`);
      await db.run(`CREATE TABLE ${quoteIdentifier(table)} (${columns.join(', ')})`);
    }
    for (const check of checks) await bindCheck(db, check);
  } finally {
    await db.close();
  }
}

async function bindCheck(db: Database, check: Check): Promise<void> {
  try {
    const statements = await db.connection.extractStatements(check.sql);
    if (statements.count !== 1) throw refuse(check, `${statements.count} statements`);
    const { statementType } = await statements.prepare(0);
    if (statementType !== StatementType.SELECT) throw refuse(check, `${StatementType[statementType]}`);
  } catch (cause) {
    throw explainCheckError(check, cause);
  }
}

function refuse({ file }: Check, found: string): PricelakeError {
  return new PricelakeError(
    'config',
    `${file}: a check must be a single SELECT that returns violations, but this is ${found}`,
  );
}
