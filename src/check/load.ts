import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PricelakeError } from '../errors.js';
import { packagePath } from '../schemas.js';
import type { Check } from './check.js';
import { parseCheck } from './parse.js';

/**
 * Reads every `*.sql` of the folders as a check, in the order of their names; later folders come after.
 * @throws PricelakeError `config` naming file and line of a malformed header, or both files of a name used twice.
 */
export async function loadChecks(directories: string[] = [packagePath('pipelines/checks')]): Promise<Check[]> {
  const checks = new Map<string, Check>();
  for (const directory of directories) {
    const files = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
    for (const name of files) {
      const file = join(directory, name);
      const check = parseCheck(await readFile(file, 'utf8'), file);
      const other = checks.get(check.name);
      if (other !== undefined) {
        throw new PricelakeError('config', `${file}: the check ${check.name} is in ${other.file} as well`);
      }
      checks.set(check.name, check);
    }
  }
  return [...checks.values()];
}
