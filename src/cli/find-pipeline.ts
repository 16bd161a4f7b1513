import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PricelakeError } from '../io/errors.js';

/** Commands look for this file in the current folder. */
export const PIPELINE_FILE = 'prices.yaml';

/**
 * Finds the pipeline file: the named one, else PRICELAKE_PIPELINE, else prices.yaml in the current folder.
 * @throws PricelakeError `config` that names these places
 */
export async function findPipeline(named: string | undefined, env: NodeJS.ProcessEnv, folder = ''): Promise<string> {
  const file = await seekPipeline(named, env, folder);
  if (file !== undefined) return file;
  throw new PricelakeError(
    'config',
    `no pipeline file: there is no ${PIPELINE_FILE} in ${resolve(folder)}, and PRICELAKE_PIPELINE is not set`,
    { hint: 'Create one with `pricelake init`, or pass its path as an argument.' },
  );
}

/**
 * Finds the pipeline file as `findPipeline` does, but returns undefined if there is none. A file that
 * PRICELAKE_PIPELINE names must exist.
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
  throw new PricelakeError('config', `${fromEnv}: no such file, but PRICELAKE_PIPELINE is set to it`, {
    hint: 'Correct the variable, or unset it.',
  });
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
