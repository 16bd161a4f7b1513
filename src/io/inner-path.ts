/** Longest name on common file systems, and longest key on object storage. */
const NAME_BYTES = 255;
const PATH_BYTES = 1024;

/** Also half of a surrogate pair: it has no bytes of its own. */
const UNNAMEABLE = /[\p{Cc}\p{Cs}]/u;
/** `file:`, `s3:`, and the drive of `C:\`. */
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Why a path can't name a file inside a folder, in words; undefined where it can. Every path that a log, a pointer, a
 * journal or a bucket names is asked for here: whoever can write those must not reach anything beside the folder.
 */
export function findPathFault(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (UNNAMEABLE.test(path)) return 'has a control character';
  if (path.startsWith('/') || SCHEME.test(path)) return 'is not relative';
  if (path.includes('\\')) return 'has a backslash';
  const names = path.split('/');
  if (names.some((name) => ['', '.', '..'].includes(name))) return 'leaves its folder';
  const isLong = names.some((name) => Buffer.byteLength(name) > NAME_BYTES) || Buffer.byteLength(path) > PATH_BYTES;
  return isLong ? 'is too long' : undefined;
}

/** The same of a data file in a table: what begins with `_` or `.` is not data, as for other readers of Delta. */
export function findDataPathFault(path: string): string | undefined {
  return findPathFault(path) ?? (/^[_.]/.test(path) ? 'is not where data files are' : undefined);
}

/** The same of a name without folders. */
export function findNameFault(name: string): string | undefined {
  return findPathFault(name) ?? (name.includes('/') ? 'is not a name but a path' : undefined);
}

/** A path as messages show it: on one line, and not longer than is needed to find it. */
export function quotePath(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}
