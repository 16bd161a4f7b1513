import type { DatasetSelection } from '../tables/table.js';
import type { RunFacts } from './run-facts.js';

export interface WaitingDatasets {
  datasets: bigint[];
  reason: string;
}

/** The datasets that the run copies for the first time, and the new datasets that a later run must copy. */
interface AddedDatasets {
  added: bigint[];
  waiting?: WaitingDatasets;
}

const NONE: AddedDatasets = { added: [] };

/**
 * Finds datasets that were added to the pipeline's list. If the pipeline copies all datasets, finds the datasets that
 * the key couldn't read before. Datasets that can't be copied now wait. Returns undefined if the caller must first
 * request the datasets that the key can read.
 * @param explainNoCopy returns the reason why this number of items can't be copied now
 */
export function findAdded(
  { lake, settings: { selection }, readable }: Pick<RunFacts, 'lake' | 'settings' | 'readable'>,
  explainNoCopy: (items: bigint) => string | undefined,
): AddedDatasets | undefined {
  const { selection: had, copied, seen } = lake;
  if (had === undefined) return NONE;
  if (selection !== 'all') return { added: findNew(selection, had) };
  if (copied.length === 0) return NONE;
  const isNew = (id: bigint) => !copied.includes(id);
  if (had === 'all' && !seen.some(isNew)) return NONE;
  if (readable === undefined) return undefined;
  const found = readable.filter(({ id }) => isNew(id));
  const added = found.map(({ id }) => id);
  if (had !== 'all' || added.length === 0) return { added };
  const reason = explainNoCopy(found.reduce((sum, { items }) => sum + items, 0n));
  return reason === undefined ? { added } : { added: [], waiting: { datasets: added, reason } };
}

function findNew(wanted: DatasetSelection, had: DatasetSelection): bigint[] {
  if (wanted === 'all' || had === 'all') return [];
  return wanted.filter((id) => !had.includes(id));
}

/** Formats ids as `dataset 12` or `datasets 12 and 15`. Returns an empty string if there are none. */
export function nameDatasets(ids: readonly bigint[]): string {
  if (ids.length === 0) return '';
  if (ids.length === 1) return `dataset ${ids[0]}`;
  return `datasets ${ids.slice(0, -1).join(', ')} and ${ids.at(-1)}`;
}
