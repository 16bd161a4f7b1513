import { createHash } from 'node:crypto';

/** Member of commitInfo, which every reader ignores: the SHA-256 of the entry's text without this member. */
export const SEAL = 'pricelake.entrySha256';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const join = (commitInfo: object, actions: readonly string[]) =>
  [JSON.stringify({ commitInfo }), ...actions, ''].join('\n');

/** The text of a log entry, sealed. `actions` are its other lines. */
export function sealEntry(commitInfo: object, actions: readonly string[]): string {
  return join({ ...commitInfo, [SEAL]: hash(join(commitInfo, actions)) }, actions);
}

/** Found in the text: a letter that changed may have turned the line into something that is no commitInfo. */
const SEALED = new RegExp(`^[^\\n]*(,"${SEAL}":"([^"]*)")`);

/** True if an entry was changed or cut after it was sealed. Entries of other programs have no seal. */
export function isSealBroken(text: string): boolean {
  const [, member = '', seal] = SEALED.exec(text) ?? [];
  return seal !== undefined && hash(text.replace(member, '')) !== seal;
}
