import path from 'node:path';
import { Journal, JournalEntries } from '../landing/journal.js';

/** Items whose histories a published run has taken, noted behind its publication: one that is not noted is read again. */
function notesPath(lakeRoot: string): string {
  return path.join(lakeRoot, '_pricelake', 'histories.ndjson');
}

const ADVICE =
  'Move it away. With `source.history: items`, the histories of all items are then read again, a call each.';

/** Items whose histories have been read. */
export async function listReadHistories(lakeRoot: string): Promise<Set<bigint>> {
  const notes = await JournalEntries.read(notesPath(lakeRoot), ADVICE);
  return new Set(notes.all('histories').flatMap(({ itemIds }) => itemIds));
}

/** Notes that these items' histories have been read. */
export async function noteHistories(lakeRoot: string, itemIds: readonly bigint[]): Promise<void> {
  const known = await listReadHistories(lakeRoot);
  const fresh = itemIds.filter((id) => !known.has(id));
  if (fresh.length === 0) return;
  const notes = await Journal.open(notesPath(lakeRoot), ADVICE);
  try {
    await notes.append({ type: 'histories', itemIds: fresh });
  } finally {
    await notes.close();
  }
}
