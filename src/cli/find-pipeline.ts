import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PricelakeError } from '../io/errors.js';

/** The pipeline file that commands look for in the current folder. */
export const PIPELINE_FILE = 'prices.yaml';

/**
 * Finds the pipeline file. This is `named` or, if that is undefined, the file that PRICELAKE_PIPELINE names or, if that
 * is unset, prices.yaml in the folder.
 * @throws PricelakeError `config` if no file is found, or if PRICELAKE_PIPELINE names a missing file
 */
export async function findPipeline(named: string | undefined, env: NodeJS.ProcessEnv, folder = ''): Promise<string> {
  const file = await seekPipeline(named, env, folder);
  if (file !== undefined) return file;
  throw new PricelakeError(
    'config',
    `no pipeline file found: ${resolve(folder)} doesn't contain ${PIPELINE_FILE}, and PRICELAKE_PIPELINE is not set`,
    { hint: 'Create one with `pricelake init`, or pass its path as an argument.' },
  );
}

/**
 * Finds the pipeline file like `findPipeline`, but returns undefined if no file is found.
 * @throws PricelakeError `config` if PRICELAKE_PIPELINE names a missing file
 */
export async function seekPipeline(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
  folder = '',
): Promise<string | undefined> {
  if (named !== undefined) return named;
  const { PRICELAKE_PIPELINE: fromEnv = '' } = env;
  const here = join(folder, PIPELINE_FILE);
  if (fromEnv === '') return (await exists(here)) ? here : undefined;
  if (await exists(fromEnv)) return fromEnv;
  throw new PricelakeError('config', `${fromEnv}, which PRICELAKE_PIPELINE is set to, does not exist`, {
    hint: 'Correct the variable, or unset it.',
  });
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
