import { createHash } from 'node:crypto';

/** The member of commitInfo with the SHA-256 of the entry's text without this member. Other readers ignore it. */
export const SEAL = 'pricelake.entrySha256';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const join = (commitInfo: object, actions: readonly string[]) =>
  [JSON.stringify({ commitInfo }), ...actions, ''].join('\n');

/** Writes a log entry with its seal. `actions` are its other lines. */
export function sealEntry(commitInfo: object, actions: readonly string[]): string {
  return join({ ...commitInfo, [SEAL]: hash(join(commitInfo, actions)) }, actions);
}

/** The seal is found in the text, because a changed letter may have broken the JSON. */
const SEALED = new RegExp(`^[^\\n]*(,"${SEAL}":"([^"]*)")`);

/** True if an entry was changed or cut after it was sealed. Entries of other programs have no seal. */
export function isSealBroken(text: string): boolean {
  const [, member = '', seal] = SEALED.exec(text) ?? [];
  return seal !== undefined && hash(text.replace(member, '')) !== seal;
}
