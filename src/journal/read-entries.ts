import { type Fold, readJournal } from './journal.js';

/** Reads the entries of a journal file, oldest first. @throws PricelakeError `lake_invalid` if it is damaged */
export async function readEntries<Entry, State>(path: string, fold: Fold<Entry, State>): Promise<Entry[]> {
  const entries: Entry[] = [];
  const collect = (state: State, entry: Entry) => {
    entries.push(entry);
    return fold.step(state, entry);
  };
  await readJournal(path, { ...fold, step: collect });
  return entries;
}
