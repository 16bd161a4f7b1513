import type { JournalEntries } from '../landing/journal.js';
import type { FactSource } from '../run/gather-facts.js';
import type { Run } from '../run/open-run.js';

/** What an estimate looks at: a run's things, without a lock; its journal is empty where it has not begun. */
export interface EstimateSource extends FactSource, Pick<Run, 'typing' | 'workFolder' | 'caps'> {
  journal: JournalEntries;
}
