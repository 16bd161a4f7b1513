import { createHash } from 'node:crypto';

/** The member of commitInfo with the SHA-256 of the entry's text without that member. Other readers ignore it. */
export const SEAL = 'pricelake.entrySha256';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const join = (info: object, lines: Iterable<string>) => [JSON.stringify({ commitInfo: info }), ...lines, ''].join('\n');

/** Builds a log entry with its checksum. `actions` are its other lines. */
export function sealEntry(commitInfo: object, actions: readonly string[]): string {
  return join({ ...commitInfo, [SEAL]: hash(join(commitInfo, actions)) }, actions);
}

/** Finds the checksum in the text, because a changed character may have broken the JSON. */
const SEALED = new RegExp(`^[^\\n]*(,"${SEAL}":"([^"]*)")`);
const OURS = /^[^\n]*"engineInfo":"pricelake\//;

/** True if an entry doesn't match its checksum, or if pricelake wrote it and the checksum is missing. */
export function isSealBroken(text: string): boolean {
  const [, member = '', seal] = SEALED.exec(text) ?? [];
  return seal === undefined ? OURS.test(text) : hash(text.replace(member, '')) !== seal;
}
