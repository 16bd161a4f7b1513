import type { JournalEntries } from '../landing/journal.js';
import type { Run } from '../run/open-run.js';

/** What a look ahead works with: a run's things, without a lock, and its journal if it has begun. */
export interface Lookout
  extends Pick<
    Run,
    'pipeline' | 'selection' | 'caps' | 'io' | 'lake' | 'db' | 'client' | 'typing' | 'tables' | 'workFolder'
  > {
  journal: JournalEntries | undefined;
}
