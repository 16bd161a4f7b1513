import type { ChangeOrigin } from '../tables/table.js';
import type { Chain } from './chain.js';
import type { EntryOf, Part } from './run-entry.js';

/** Changes that a run received from a source other than the feed. */
export interface LandedSource {
  /** The file that contains the changes; undefined until there is a change. */
  landed: { file: string; origin: ChangeOrigin } | undefined;
  changes: number;
  bytes: number;
  /** The keys of the deliveries that contained the changes, newest delivery first. */
  keys: Chain<string> | undefined;
  /** Facts about the finished download; undefined until all changes that the source has stored are downloaded. */
  done: Pick<EntryOf<'source.done'>, 'spent' | 'remark'> | undefined;
}

export type LandedSources = ReadonlyMap<string, LandedSource>;

export const NOTHING_LANDED: LandedSource = {
  ...{ landed: undefined, changes: 0, bytes: 0, keys: undefined, done: undefined },
};

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

/** Adds up the rows and bytes of all sources, and the calls that the service counted for them before the run. */
export function sumSources(sources: LandedSources): { rows: bigint; bytes: number; counted: bigint } {
  const all = [...sources.values()];
  return {
    rows: all.reduce((sum, { changes }) => sum + BigInt(changes), 0n),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    counted: all.reduce((sum, { done }) => sum + (done?.spent?.counted ?? 0n), 0n),
  };
}
