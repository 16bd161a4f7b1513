import type { TableState } from '../tables/table.js';
import type { Event, Next } from './run-state.js';

/** The state of a table in a run, by its log (SPEC.md). */
export const TABLE_STANDINGS = ['absent', 'before', 'committed', 'foreign'] as const;
export type TableStanding = (typeof TABLE_STANDINGS)[number];

/** Every cell is demanded by the compiler. SPEC.md shows the same table. */
export const TABLE_TRANSITIONS: Record<TableStanding, Record<Event, Next<TableStanding>>> = {
  absent: {
    'call answered': 'stays',
    'bytes synced': 'stays',
    'entry journaled': 'stays',
    'file staged': 'stays',
    'entry committed': ['committed'],
    'process killed': 'stays',
    'budget spent': 'stays',
    'plan changed': 'stays',
    'foreign commit': ['foreign'],
    'run dropped': 'stays',
  },
  before: {
    'call answered': 'stays',
    'bytes synced': 'stays',
    'entry journaled': 'stays',
    'file staged': 'stays',
    'entry committed': ['before', 'committed'],
    'process killed': 'stays',
    'budget spent': 'stays',
    'plan changed': 'stays',
    'foreign commit': ['before', 'foreign'],
    'run dropped': 'stays',
  },
  committed: {
    'call answered': 'stays',
    'bytes synced': 'stays',
    'entry journaled': ['committed', 'before'],
    'file staged': 'stays',
    'entry committed': 'stays',
    'process killed': 'stays',
    'budget spent': 'stays',
    'plan changed': 'stays',
    'foreign commit': ['committed', 'foreign'],
    'run dropped': 'impossible',
  },
  foreign: {
    'call answered': 'stays',
    'bytes synced': 'stays',
    'entry journaled': 'stays',
    'file staged': 'stays',
    'entry committed': ['committed'],
    'process killed': 'stays',
    'budget spent': 'stays',
    'plan changed': 'stays',
    'foreign commit': 'stays',
    'run dropped': 'stays',
  },
};

/**
 * The state of a table in a run.
 * @param isForeign true where another program changed its rows since the newest run
 */
export function readTableStanding(
  { version, applied }: Pick<TableState, 'version' | 'applied'>,
  runNumber: bigint,
  isForeign = false,
): TableStanding {
  if (isForeign) return 'foreign';
  if (version < 0n) return 'absent';
  return (applied.run ?? 0n) >= runNumber ? 'committed' : 'before';
}
