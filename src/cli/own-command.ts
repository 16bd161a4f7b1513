import { realpathSync } from 'node:fs';
import path from 'node:path';

/**
 * Words that start this very program again from this folder: `pricelake` only if that name leads to it. The folders that
 * npm puts on the path don't count: they are gone when its script ends, and npx may ask the registry for the name.
 */
export function nameOwnCommand(env: NodeJS.ProcessEnv): string {
  const entry = process.argv[1] ?? '';
  const main = resolveLink(entry) ?? entry;
  const folders = (env.PATH ?? '').split(path.delimiter).filter((folder) => !/\bnode_modules\b/u.test(folder));
  const first = folders.map((folder) => resolveLink(path.join(folder, 'pricelake'))).find((file) => file !== undefined);
  if (first === main) return 'pricelake';
  const fromHere = path.relative('', main);
  return `node ${quoteWord(fromHere.startsWith('..') ? main : fromHere)}`;
}

function resolveLink(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

/** One word for a shell. */
export function quoteWord(word: string): string {
  return /^[\w./-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
