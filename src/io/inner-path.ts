/** The longest names and paths that common file systems and object stores accept. */
const NAME_BYTES = 255;
const PATH_BYTES = 1024;

/** Matches control characters and lone surrogates. UTF-8 can't represent a lone surrogate. */
const UNNAMEABLE = /[\p{Cc}\p{Cs}]/u;
/** Matches a scheme, such as `file:` or `s3:`, and the drive in `C:\`. */
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Describes why a relative path is unsafe or invalid, or returns undefined. Checks every path from a log, lake.json, a
 * journal or a bucket, so that an attacker can't reach files outside the lake's folder.
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

/** Describes why a data file's path is invalid, if it is. Delta ignores files whose names start with `_` or `.`. */
export function findDataPathFault(path: string): string | undefined {
  return findPathFault(path) ?? (/^[_.]/.test(path) ? "starts with _ or ., which data files don't" : undefined);
}

/** Describes why a file name is invalid, for example because it contains a slash. Returns undefined if it is valid. */
export function findNameFault(name: string): string | undefined {
  return findPathFault(name) ?? (name.includes('/') ? 'is a path, not a file name' : undefined);
}

/** Quotes a path for a message on one line. Truncates a long path. */
export function quotePath(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}
