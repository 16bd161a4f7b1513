import type { ChangeOrigin } from '../tables/table.js';
import type { Chain } from './chain.js';
import type { EntryOf, Part } from './run-entry.js';

/** The changes that a source beside the feed has brought to a run. */
export interface LandedSource {
  /** The file that holds the changes. Undefined before the first change. */
  landed: { file: string; origin: ChangeOrigin } | undefined;
  changes: number;
  bytes: number;
  /** The keys of what brought the changes, the newest first. */
  keys: Chain<string> | undefined;
  /** Undefined until all that waited has landed. */
  done: Pick<EntryOf<'source.done'>, 'spent' | 'remark'> | undefined;
}

export type LandedSources = ReadonlyMap<string, LandedSource>;

export const NOTHING_LANDED: LandedSource = {
  ...{ landed: undefined, changes: 0, bytes: 0, keys: undefined, done: undefined },
};

/** By the name of the source. */
export const SOURCES: Part<LandedSources> = {
  start: new Map(),
  step(sources, entry) {
    if (entry.type !== 'source.rows' && entry.type !== 'source.done') return sources;
    const before = sources.get(entry.source) ?? NOTHING_LANDED;
    return new Map(sources).set(entry.source, foldSource(before, entry));
  },
};

function foldSource(source: LandedSource, entry: EntryOf<'source.rows' | 'source.done'>): LandedSource {
  if (entry.type === 'source.done') return { ...source, done: { spent: entry.spent, remark: entry.remark } };
  const { file, origin, key, rows, end: bytes } = entry;
  const keys = { value: key, before: source.keys };
  return { ...source, landed: { file, origin }, changes: source.changes + rows, bytes, keys };
}

/** Rows and bytes of all sources together, and the service's count of the calls that brought them before the run. */
export function sumSources(sources: LandedSources): { rows: bigint; bytes: number; counted: bigint } {
  const all = [...sources.values()];
  return {
    rows: all.reduce((sum, { changes }) => sum + BigInt(changes), 0n),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    counted: all.reduce((sum, { done }) => sum + (done?.spent?.counted ?? 0n), 0n),
  };
}
