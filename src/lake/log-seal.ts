import { createHash } from 'node:crypto';

/** The commitInfo field for the log entry's SHA-256, computed without this field. Other Delta readers ignore it. */
export const SEAL = 'pricelake.entrySha256';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const join = (info: object, lines: Iterable<string>) => [JSON.stringify({ commitInfo: info }), ...lines, ''].join('\n');

/** Builds a log entry with its checksum. @param actions the lines after commitInfo */
export function sealEntry(commitInfo: object, actions: readonly string[]): string {
  return join({ ...commitInfo, [SEAL]: hash(join(commitInfo, actions)) }, actions);
}

/** Matches the checksum in the entry's text, because a damaged entry may not be valid JSON. */
const SEALED = new RegExp(`^[^\\n]*(,"${SEAL}":"([^"]*)")`);
const OURS = /^[^\n]*"engineInfo":"pricelake\//;

/** True if an entry doesn't match its checksum, or if it has no checksum although pricelake wrote it. */
export function isSealBroken(text: string): boolean {
  const [, member = '', seal] = SEALED.exec(text) ?? [];
  return seal === undefined ? OURS.test(text) : hash(text.replace(member, '')) !== seal;
}
