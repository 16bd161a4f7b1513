/** The twenty lives of the corpus. Their names are folders of the cache. */
import type { Habits } from '../sim/habits.js';

export interface CorpusLife {
  name: string;
  seed: number;
  /** The others are plain. */
  habits: Partial<Habits>;
  /** The run of the last round stops at this event of its log, as after a kill; its lake is kept. */
  stop?: string;
  /** Some changes arrive as webhooks too, ahead of the feed. */
  webhooks?: true;
  /** A gate holds the batch of the first round; it is let through. */
  held?: true;
  /** Histories are read item by item. */
  histories?: true;
  /** The service's products are copied too. */
  products?: true;
  /** So many items, of which those of one website have one currency. */
  items?: number;
  partitionBy?: string[];
}

export const LIVES: readonly CorpusLife[] = [
  { name: 'plain', seed: 101, habits: {}, products: true, items: 110 },
  { name: 'no-feed', seed: 102, habits: { feed: false } },
  {
    name: 'no-feed-csv',
    seed: 103,
    habits: { feed: false, format: 'csv', csvLists: '; ', shape: 'snake', csvMark: true },
  },
  { name: 'poll', seed: 104, habits: { mode: 'poll', recentOnFree: '402', changeNames: 'empty' }, products: true },
  { name: 'snapshots', seed: 105, habits: { mode: 'snapshot', leaving: 'leave and return', shape: 'text' } },
  { name: 'webhooks', seed: 106, habits: { removedPrice: 'last', changeIds: 'sparse' }, webhooks: true },
  {
    name: 'two-datasets',
    seed: 107,
    habits: { scope: 'two', moving: true, repeatedRows: true, removedPrice: 'last' },
    webhooks: true,
  },
  { name: 'renamed-datasets', seed: 108, habits: { renaming: true, datasetNames: 'with separators' } },
  { name: 'unnamed-removals', seed: 109, habits: { removedItem: 'null', kinds: 'some', hidden: true } },
  { name: 'bad-export-rows', seed: 110, habits: { badRows: 'in exports', unknownFields: true } },
  { name: 'bad-feed-rows', seed: 111, habits: { badRows: 'in the feed', untitled: 'null', shape: 'dotted' } },
  { name: 'held', seed: 112, habits: { changeNames: 'no price' }, held: true },
  { name: 'histories', seed: 113, habits: {}, histories: true },
  { name: 'closed-days', seed: 114, habits: { daily: 5, pause: 10, oldCursor: '410' } },
  { name: 'lags', seed: 115, habits: { lagItems: 120, lagExport: 120, replicas: 20, moving: true, skewMs: 90_000 } },
  { name: 'shards', seed: 116, habits: { splitAbove: 5, quota: 'small', ids: 'beyond 2^53' }, partitionBy: [] },
  { name: 'stopped-at-feed', seed: 117, habits: { changeNames: 'empty', fraction: 9 }, stop: 'landed feed' },
  {
    name: 'stopped-at-typing',
    seed: 118,
    habits: { changeNames: 'other words', removedItem: 'null' },
    stop: 'settled',
  },
  { name: 'stopped-at-files', seed: 119, habits: { feed: false, leaving: 'leave' }, stop: 'staged items' },
  { name: 'stopped-at-commits', seed: 120, habits: { daily: 5, namesake: 'price' }, stop: 'committed history' },
];
