import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasSystemCode, PricelakeError } from '../io/errors.js';
import { packagePath } from '../io/package-path.js';
import { bindChecks } from './bind.js';
import type { Check } from './check.js';
import { parseCheck } from './parse.js';

/**
 * Reads the shipped checks and every `*.sql` of `folder` as a check, in the order of their names; the folder's after.
 * @throws PricelakeError `config` naming file and line of a malformed header or of SQL that would not run, both files of
 * a name used twice, or a folder that can't be read.
 */
export async function loadChecks(folder?: string): Promise<Check[]> {
  const shipped = await readFolder(packagePath('pipelines/checks'));
  if (folder === undefined) return shipped;
  const own = await readFolder(folder);
  const checks = new Map(shipped.map((check) => [check.name, check]));
  for (const check of own) {
    const other = checks.get(check.name);
    if (other !== undefined) {
      throw new PricelakeError('config', `${check.file}: the check ${check.name} is in ${other.file} as well`);
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
    throw new PricelakeError('config', `${directory}: no folder of checks can be read here`, {}, { cause });
  }
}
