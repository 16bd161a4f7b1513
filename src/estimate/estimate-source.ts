import type { Memory } from '../journal/memory.js';
import type { FactSource } from '../run/gather-facts.js';
import type { Run } from '../run/open-run.js';

/** What an estimate looks at: a run's things, without a lock. */
export interface EstimateSource extends FactSource, Pick<Run, 'typing' | 'workFolder' | 'caps'> {
  memory: Pick<Memory, 'state' | 'append'>;
}
