/** Limits of common file systems and of object storage. */
const NAME_BYTES = 255;
const PATH_BYTES = 1024;

/** Matches control characters and half a surrogate pair, which has no bytes of its own. */
const UNNAMEABLE = /[\p{Cc}\p{Cs}]/u;
/** Matches `file:`, `s3:`, and the drive of `C:\`. */
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Explains why a path can't name a file inside a folder; undefined if it can. Every path from a log, a pointer, a
 * journal or a bucket is checked here, so that whoever writes those can't reach files outside the folder.
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

/**
 * Checks a path of a table's data file. As for other readers of Delta, names that begin with `_` or `.` are not data.
 */
export function findDataPathFault(path: string): string | undefined {
  return findPathFault(path) ?? (/^[_.]/.test(path) ? 'is not where data files belong' : undefined);
}

/** Checks a name without folders. */
export function findNameFault(name: string): string | undefined {
  return findPathFault(name) ?? (name.includes('/') ? 'is not a name but a path' : undefined);
}

/** Writes a path on one line for a message, cut if it is long. */
export function quotePath(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}
