import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { PricelakeError } from '../io/errors.js';
import { openLake } from '../lake/lake.js';
import type { CommandContext } from './command.js';

/** The value of `--lake`: a folder, or the folders of several lakes. */
export type NamedLakes = string | readonly string[];

interface LakeArguments {
  lake?: NamedLakes | undefined;
  cache?: string | undefined;
  remote?: string | undefined;
  asOf?: number | undefined;
}

/** The folder of cached files; default ~/.cache/pricelake. */
export function findCache(named: string | undefined): string {
  return resolve(named ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'pricelake'));
}

/**
 * The folder that a command reads: the lake that is named, or the union of several lakes, which is a lake in the cache.
 * Undefined without `--lake`.
 */
export async function joinLakes(
  request: LakeArguments,
  context: Pick<CommandContext, 'io' | 'signal'>,
): Promise<string | undefined> {
  const lakes = listLakes(request.lake);
  if (lakes.length <= 1) return lakes[0];
  refuseTogether(request);
  const opened = await Promise.all(lakes.map((path) => openLake(path, { create: false })));
  const { openUnion } = await import('../union/open-union.js');
  return (await openUnion(opened, { cache: findCache(request.cache), ...context })).root;
}

export const listLakes = (lake: NamedLakes | undefined): readonly string[] =>
  lake === undefined ? [] : typeof lake === 'string' ? [lake] : lake;

function refuseTogether({ remote, asOf }: LakeArguments): void {
  if (remote !== undefined) {
    const hint = 'Drop --remote, or name one lake.';
    throw new PricelakeError('usage', "--remote and several --lake can't be used together", { hint });
  }
  if (asOf !== undefined) {
    const hint = 'Each lake has runs of its own: name one lake.';
    throw new PricelakeError('usage', "--as-of and several --lake can't be used together", { hint });
  }
}
