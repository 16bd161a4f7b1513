import { PricelakeError } from '../errors/errors.js';
import { type JournalEntry, journalEntry } from './journal-entry.js';

/** What to do about the damaged journal of a run that is not published. */
export const START_AGAIN =
  "Move this run's folder away. The next `pricelake sync` begins a new run, and fetches again what this one had not published.";

/**
 * A line as its entry.
 * @param where names the line in errors
 * @param advice says what to do where it is damaged
 * @throws PricelakeError `lake_invalid` on a damaged line, or one of a newer version
 */
export function readEntry(line: string, where: string, advice = START_AGAIN): JournalEntry {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new PricelakeError('lake_invalid', `${where} is damaged`, { hint: advice }, { cause });
  }
  const entry = journalEntry.safeParse(renameType(value));
  if (entry.success) return entry.data;
  const outer = entry.error.issues.find(({ code }) => code === 'custom');
  if (outer !== undefined) {
    throw new PricelakeError('lake_invalid', `${where} is damaged: ${outer.message}`, { hint: START_AGAIN });
  }
  throw new PricelakeError(
    'lake_invalid',
    `${where} says what this version does not know`,
    { hint: `If a newer version wrote it, continue with that version. If it is damaged: ${advice}` },
    { cause: entry.error },
  );
}

/** Types of entries that versions before 0.2 wrote under other names. */
const RENAMED: Record<string, JournalEntry['type']> = { fence: 'watermark', let_through: 'waived' };

function renameType(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('type' in value)) return value;
  return { ...value, type: RENAMED[String(value.type)] ?? value.type };
}

/** An entry as its line, without the newline. */
export function toLine(entry: JournalEntry): string {
  return JSON.stringify(entry, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
}
