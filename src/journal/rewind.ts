import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '../io/durable.js';
import { isHydrationExport } from './exports.js';
import { Journal } from './journal.js';
import { readEntries } from './read-entries.js';
import type { EntryOf, RunEntry } from './run-entry.js';
import { RUN_FOLD, type RunState } from './run-state.js';

/** The entries that remain in a run's journal, and the number of rows that must be downloaded again. */
export interface Rewound {
  entries: RunEntry[];
  rows: bigint;
}

/** The entries that stay valid when data is downloaded again, because they list no data or list billed exports. */
const KEPT: readonly RunEntry['type'][] = [
  ...(['try', 'calls', 'usage.before', 'usage.after', 'decision', 'chosen', 'watermark', 'shards'] as const),
  ...(['export.begin', 'export.segment', 'export.cut', 'export.done'] as const),
];

/** The entries that depend on all downloaded rows. They become invalid when data is downloaded again. */
const CONCLUSIONS: readonly RunEntry['type'][] = ['hydrate.done', 'tally', 'waived', 'held'];

type ShardEntry = EntryOf<'export.segment' | 'export.cut' | 'export.done'>;
const isOfShard = (entry: RunEntry): entry is ShardEntry =>
  entry.type === 'export.segment' || entry.type === 'export.cut' || entry.type === 'export.done';
const nameAttempt = ({ shard, attempt }: ShardEntry) => `${shard} ${attempt}`;

/**
 * Removes altered entries and the entries that depend on them. Keeps intact exports, even after the first altered
 * entry. Keeps only the first entry of an altered export, because the export is billed. Returns undefined if removed
 * data can't be downloaded again.
 * @param altered the indexes of the altered entries
 */
export function rewindEntries(entries: readonly RunEntry[], altered: readonly number[]): Rewound | undefined {
  const named = altered.flatMap((index) => entries[index] ?? []);
  const broken = new Set(named.filter(isOfShard).map(nameAttempt));
  const isBroken = (entry: RunEntry) => isOfShard(entry) && broken.has(nameAttempt(entry));
  const from = entries.findIndex((entry, index) => isBroken(entry) || altered.includes(index));
  const isDropped = (entry: RunEntry) => isBroken(entry) || CONCLUSIONS.includes(entry.type);
  const kept = entries.filter((entry, index) => !isDropped(entry) && (index < from || KEPT.includes(entry.type)));
  const lost = entries.filter((entry) => !kept.includes(entry));
  if (lost.some(isIrreplaceable)) return undefined;
  const rows = lost.reduce((sum, entry) => ('announced' in entry ? sum + entry.announced : sum), 0n);
  return { entries: kept, rows };
}

function isIrreplaceable(entry: RunEntry): boolean {
  if (entry.type === 'hydrate.page') return isHydrationExport(entry.file);
  return entry.type === 'hydrate.export' || (entry.type === 'source.done' && entry.spent !== undefined);
}

/** Removes invalid entries from a run's journal. A run that opens a data file cuts off the rows without entries. */
export async function rewindJournal(
  file: string,
  altered: readonly number[],
): Promise<{ journal: Journal<RunEntry, RunState>; rows: bigint } | undefined> {
  const rewound = rewindEntries(await readEntries(file, RUN_FOLD), altered);
  if (rewound === undefined) return undefined;
  const next = `${file}.next`;
  await rm(next, { force: true });
  const journal = await Journal.open(next, RUN_FOLD);
  await journal.append(...rewound.entries);
  await journal.close();
  await rename(next, file);
  await syncFolder(path.dirname(file));
  return { journal: await Journal.open(file, RUN_FOLD), rows: rewound.rows };
}
