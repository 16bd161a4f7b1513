import { beforeAll, describe, expect, test } from 'vitest';
import type { RunEntry } from '../../src/journal/run-entry.js';
import { int64Text } from '../../src/journal/run-entry.js';

let entries: typeof import('../../src/journal/run-entry.js');

const BIG = 9007199254740993n;
const AT = '2026-11-20T06:00:00Z';
const counted = { apiCalls: BIG, exportRows: 2n, resetsAt: AT };
const itemPage = { file: 'f', rows: 1, end: 2, readAt: AT, dataset: BIG, calls: 3, sha256: 'a' };
const attempt = { shard: 'all', attempt: 1 };
const exported = { announced: BIG, overage: true, blocks: 2n, calls: 3 };

/** One entry of each type with all its fields, followed by the names of the optional fields. */
const ENTRIES: [RunEntry, ...string[]][] = [
  [{ type: 'begin', runNumber: BIG, runId: 'r', at: AT, pipeline: 'p', cursorFrom: null, datasets: [BIG] }, 'datasets'],
  [{ type: 'try', at: AT }],
  [{ type: 'calls', calls: 1, refused: 2 }],
  [{ type: 'usage.before', counted, calls: 1 }],
  [{ type: 'usage.after', counted: null, calls: 1 }],
  [{ type: 'decision', mode: 'snapshot', reason: 'x', added: [BIG], calls: 1 }, 'added'],
  [{ type: 'chosen', what: 'copy', way: 'w', reason: 'x', calls: 1 }],
  [{ type: 'chosen', what: 'hydration', way: 'w', reason: 'x', calls: 1 }],
  [{ type: 'normalize', at: AT, serviceAt: null }],
  [{ type: 'tally', received: BIG, written: 1n, rejected: 2n, deduplicated: 3n }],
  [{ type: 'held', checks: ['a'] }],
  [{ type: 'waived', at: AT, checks: ['a'] }],
  [{ type: 'end', at: AT }],
  [
    {
      ...{ type: 'watermark', cursor: BIG, from: 1n, changedAt: null, items: 2n, at: AT, calls: 1 },
      counts: [{ dataset: BIG, items: 2n }],
    },
    'from',
    'counts',
  ],
  [
    {
      ...{ type: 'shards', reason: 'x', calls: 1 },
      shards: (['all', 'active', 'removed'] as const).map((status) => {
        return { name: status, status, site: null, dataset: BIG, rows: 1n };
      }),
    },
  ],
  [{ type: 'export.begin', ...attempt, readAt: AT, ...exported }],
  [{ type: 'export.segment', ...attempt, file: 'f', bytes: 1, rows: 2, fileSha256: 'a' }],
  [{ type: 'export.cut', ...attempt, announced: BIG, landed: 1n, matching: '9', calls: 1 }],
  [{ type: 'export.done', ...attempt, announced: BIG, landed: 1n, calls: 1 }],
  [{ type: 'feed.bound', newest: BIG, at: AT, calls: 1 }],
  [{ type: 'feed.part', dataset: BIG, cursor: 1n, calls: 1 }, 'dataset'],
  [
    {
      ...{ type: 'feed.page', dataset: BIG, after: 1n, nextCursor: 2n, hasMore: true },
      ...{ rows: 1, end: 2, calls: 3, sha256: 'a' },
    },
    'dataset',
  ],
  [{ type: 'probe.site', site: BIG, source: null, seenAt: null, calls: 1 }],
  [{ type: 'probe.done', calls: 1 }],
  [{ type: 'source.rows', source: 's', origin: 'webhook', file: 'f', key: 'k', rows: 1, end: 2, sha256: 'a' }],
  [{ type: 'source.done', source: 's', spent: { made: 3, counted: BIG }, remark: 'x' }, 'spent', 'remark'],
  [{ type: 'feed.done', cursor: BIG, complete: true, at: AT, calls: 1 }],
  [{ type: 'poll.round', since: AT, newest: null, dataset: BIG }, 'dataset'],
  [{ type: 'poll.page', ...itemPage }, 'dataset'],
  [{ type: 'poll.done', dataset: BIG, calls: 1 }, 'dataset'],
  [{ type: 'listing.counts', dataset: BIG, answer: '{}', returnsRemovals: true, calls: 1 }, 'dataset'],
  [
    {
      ...{ type: 'listing.plan', dataset: BIG, news: true, limit: null, wanted: 1n, calls: 2 },
      readings: [
        { status: 'active', site: BIG, removals: null },
        { status: 'removed', site: null, removals: BIG },
      ],
    },
    'dataset',
  ],
  [{ type: 'listing.page', ...itemPage }, 'dataset'],
  [{ type: 'listing.read', dataset: BIG, files: ['f'], total: null, calls: 1 }, 'dataset'],
  [{ type: 'listing.gone', itemId: BIG, calls: 1 }],
  [{ type: 'listing.acted', dataset: BIG, calls: 1 }, 'dataset'],
  [{ type: 'listing.done', unknown: BIG, reason: 'x', calls: 1 }],
  [{ type: 'products.page', ...itemPage }, 'dataset'],
  [{ type: 'products.done', whole: true, calls: 1 }],
  [{ type: 'sample.page', ...itemPage }, 'dataset'],
  [{ type: 'sample.done', missing: [BIG], calls: 1 }],
  [{ type: 'hydrate.export', dataset: BIG, ...exported }, 'dataset'],
  [{ type: 'hydrate.page', ...itemPage, page: 4 }, 'dataset', 'page'],
  [{ type: 'hydrate.done', calls: 1 }],
  [{ type: 'hydrate.again', items: 1, calls: 2 }],
  [{ type: 'partial' }],
  [{ type: 'datasets', readAt: AT, answer: '[]', calls: 1 }],
  [{ type: 'facets', answer: '{}', calls: 1 }],
];

const without = (entry: object, field: string) =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => name !== field)) as RunEntry;

const read = (entry: RunEntry) => {
  return entries.runEntry.parse(
    JSON.parse(JSON.stringify(entry, (_, one) => (typeof one === 'bigint' ? `${one}` : one))),
  );
};

describe('the format of the journal', () => {
  // Loaded in a hook, so that a list of entries that zod refuses fails all tests, instead of none.
  beforeAll(async () => {
    entries = await import('../../src/journal/run-entry.js');
  });

  test('this file has an entry of every type', () => {
    const types = entries.runEntry.options.map(({ shape }) => shape.type.value);
    expect(new Set(ENTRIES.map(([{ type }]) => type))).toEqual(new Set(types));
  });

  const named = ENTRIES.map(([entry, ...optional]) => [entry.type, entry, optional] as const);
  test.each(named)('an entry %s is read back unchanged, and its fields are checked', (_type, entry, optional) => {
    expect(read(entry)).toEqual(entry);
    expect(() => read({ ...entry, ...{ more: 1 } })).toThrow('unrecognized_keys');
    for (const field of Object.keys(entry).filter((field) => field !== 'type')) {
      const shorter = without(entry, field);
      if (optional.includes(field)) expect(read(shorter)).toEqual(shorter);
      else expect(() => read(shorter)).toThrow();
    }
  });

  test('an int64 is a text of decimal digits', () => {
    expect(['0', '-9223372036854775808', '007'].map((text) => int64Text.parse(text))).toEqual([0n, -(2n ** 63n), 7n]);
    for (const text of ['', '-', '1.5', '1e3', ' 1', '1 ', '0x1', 'a1', '1a']) {
      expect(int64Text.safeParse(text).success).toBe(false);
    }
  });

  test('a page of changed items has one checksum, either of its bytes or of a whole export file', () => {
    const page: RunEntry = { type: 'hydrate.page', ...itemPage };
    expect(read({ ...without(page, 'sha256'), ...{ fileSha256: 'b' } })).toMatchObject({ fileSha256: 'b' });
    expect(() => read({ ...page, fileSha256: 'b' })).toThrow('it has no checksum');
  });
});
