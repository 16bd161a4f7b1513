/** Defects that were found once, or that a weaker protocol would have, each as a change of one text in the code. */
import type { Trouble } from './live-through.js';

export interface RevivedBug {
  name: string;
  file: string;
  find: string;
  replace: string;
  /** What it takes to meet it. */
  trouble?: Trouble;
  /** The first seed that is known to find it. */
  seed?: number;
  /** Of a defect that the simulation does not reach: why, and the test that fails. */
  heldBy?: string;
}

const JOURNAL = 'src/journal/journal.ts';
const COMMIT = 'src/lake/commit.ts';

export const REVIVED_BUGS: readonly RevivedBug[] = [
  {
    name: 'lines of the journal are not synced',
    file: JOURNAL,
    find: '      await this.#file.datasync();\n',
    replace: '',
    trouble: 'power-loss',
    seed: 1,
  },
  {
    name: 'the name of a new journal is not synced',
    file: JOURNAL,
    find: 'if (!this.#isNamed) await syncFolder(dirname(this.#path));',
    replace: '',
    trouble: 'power-loss',
    seed: 17,
  },
  {
    name: 'the torn tail of a journal stays before the next line',
    file: JOURNAL,
    find: '      await truncate(path, read.end);\n',
    replace: '',
    trouble: 'power-loss',
    seed: 1,
  },
  {
    name: 'pages are journaled before their bytes are synced',
    file: 'src/source/row-file.ts',
    find: '        await this.#file.datasync();\n',
    replace: '',
    trouble: 'power-loss',
    seed: 1,
  },
  {
    name: 'segments of exports are journaled before their bytes are synced',
    file: 'src/source/segment-writer.ts',
    find: '        await file.datasync();\n',
    replace: '',
    trouble: 'power-loss',
    seed: 1,
  },
  {
    name: 'segments of exports are journaled before their names are synced',
    file: 'src/source/segment-writer.ts',
    find: '      await syncFolder(this.#options.folder);\n      await this.#options.onSegment',
    replace: '      await this.#options.onSegment',
    trouble: 'power-loss',
    heldBy:
      'few losses come before the next sync of the folder: test/run/durable-names.test.ts, loses nothing that a journal lists',
  },
  {
    name: 'data files are committed before their bytes are synced',
    file: 'src/lake/data-file.ts',
    find: '    await file.sync();\n    await checkFooter',
    replace: '    await checkFooter',
    trouble: 'power-loss',
    seed: 1,
  },
  {
    name: 'data files are committed before their names are synced',
    file: COMMIT,
    find: '    await syncFolder(folder);\n    // THE COMMIT POINT',
    replace: '    // THE COMMIT POINT',
    trouble: 'power-loss',
    seed: 1,
  },
  {
    name: 'a commit ends before the name of its log entry is synced',
    file: COMMIT,
    find: '  await syncFolder(log);\n  const staging',
    replace: '  const staging',
    trouble: 'power-loss',
    seed: 2,
  },
  {
    name: 'a log entry gets its name before its bytes are synced',
    file: 'src/lake/durable.ts',
    find: '    await writeSynced(temporary, text);\n    return await linkExclusively',
    replace:
      "    await (await import('node:fs/promises')).writeFile(temporary, text);\n    return await linkExclusively",
    trouble: 'power-loss',
    seed: 1,
  },
  {
    name: 'the names of new folders are not synced',
    file: 'src/io/durable.ts',
    find: 'folder.length >= first.length;',
    replace: 'folder.length < 0;',
    trouble: 'power-loss',
    seed: 1,
  },
  {
    name: 'a file is renamed into place before its bytes are synced',
    file: 'src/io/durable.ts',
    find: '    await writeSynced(temporary, data);\n    await rename',
    replace: "    await (await import('node:fs/promises')).writeFile(temporary, data);\n    await rename",
    trouble: 'power-loss',
    seed: 1,
  },
  {
    name: 'a copy by empty pages is begun again by exports when its run continues',
    file: 'src/plan/plan-copy.ts',
    find: 'polls.some((poll) => poll?.isWhole)',
    replace: 'pagesLanded > 0n && polls.some((poll) => poll?.isWhole)',
    trouble: 'power-loss',
    seed: 37,
  },
  {
    name: 'rows of complete exports are forgotten when a run continues by pages',
    file: 'src/source/export-shard.ts',
    find: 'one.end === undefined ? [] : placeSegments',
    replace: "one.end !== 'cut' ? [] : placeSegments",
    heldBy: 'pages bring the same rows: test/run/pages.test.ts, is kept with the complete exports of other websites',
  },
  {
    name: 'items are committed before history',
    file: 'src/tables/table.ts',
    find: "['history', 'price_spread_daily', 'stale_items', 'items', 'stale_items']",
    replace: "['items', 'history', 'price_spread_daily', 'stale_items', 'stale_items']",
    seed: 1,
  },
  {
    name: 'rows leave stale_items before items are committed',
    file: 'src/tables/table.ts',
    find: "['history', 'price_spread_daily', 'stale_items', 'items', 'stale_items']",
    replace: "['history', 'price_spread_daily', 'stale_items', 'stale_items', 'items']",
    trouble: 'power-loss',
    heldBy:
      'few losses come between two commits: test/run/stopped-stale.test.ts, an item leaves stale_items only after items contains it',
  },
  {
    name: 'items that move between two exports are not polled',
    file: 'src/plan/plan-copy.ts',
    find: 'shards === undefined ? undefined : planSettling(facts, datasets, shards)',
    replace: 'undefined',
    heldBy:
      'later changes repair it: test/plan/plan-run.test.ts, contains all datasets if the run changed to a complete copy',
  },
  {
    name: 'changes without an item are taken for changes of no item',
    file: 'src/run/land/land-run.ts',
    find: 'feed !== undefined && feed.unnamed > 0',
    replace: 'feed !== undefined && feed.unnamed > 1e9',
    heldBy:
      "60 seeds don't find it: test/source/account-changes.test.ts, is added to history without an item, and the run polls for the item",
  },
  {
    name: 'a read that lags behind a change counts as current',
    file: 'pipelines/models/judged_reads.sql',
    find: "WHEN t.changed_at > r.last_changed_at + known_skew(getvariable('feed_skew'))\n",
    replace: 'WHEN false\n',
    seed: 24,
  },
  {
    name: 'reads that are newer than the copy are taken for older',
    file: 'pipelines/models/macros.sql',
    find: 'OR coalesce(a_changed <= b_changed AND CASE',
    replace: 'OR coalesce(a_changed >= b_changed OR a_changed <= b_changed AND CASE',
    seed: 18,
  },
  {
    name: 'items keep the former name of their website',
    file: 'pipelines/models/apply.sql',
    find: 'coalesce(s.name, b.site_name) AS site_name',
    replace: 'b.site_name AS site_name',
    seed: 18,
  },
  {
    name: 'datasets that exchange their names keep them',
    file: 'src/typing/dataset-names.ts',
    find: 'const isShared = held.some(',
    replace: 'const isShared = [...held, ...visible].some(',
    seed: 26,
  },
  {
    name: 'a list of dataset names in one text is one name',
    file: 'pipelines/models/macros.sql',
    find: 'THEN split_names(substr(names[1], 2), pattern) ELSE names END',
    replace: 'THEN [substr(names[1], 2)] ELSE names END',
    seed: 232,
  },
  {
    name: 'items that a complete copy lacks stay listed',
    file: 'pipelines/models/missing.sql',
    find: 'WHERE gone_at IS NULL\n',
    replace: 'WHERE false AND gone_at IS NULL\n',
    seed: 16,
  },
  {
    name: 'a late change before all recent changes is never read',
    file: 'src/run/plan/read-overlap.ts',
    find: 'const after = ids[oldest + 1] ?? ids[oldest] ?? cursor;',
    replace: 'const after = ids[oldest] ?? cursor;',
    seed: 108,
  },
  {
    name: 'an item that cannot be read by its id stops the run',
    file: 'src/source/item-files.ts',
    find: "error.code === 'not_found') return undefined;",
    replace: "error.code === 'contract') return undefined;",
    seed: 7,
  },
  {
    name: 'websites that only complete rows name are left out',
    file: 'src/run/apply/sites.ts',
    find: '{items(exported, 1)} UNION ALL $',
    replace: '',
    seed: 47,
  },
  {
    name: 'a poll does not look for removed items',
    file: 'src/wings/listing/index.ts',
    find: '      await establishListing(run);\n',
    replace: '',
    seed: 49,
  },
  {
    name: 'objects in cells of CSV are texts',
    file: 'src/typing/observe.ts',
    find: 'holders = new Set(columns.filter((name) => isParent(name, mapping)));',
    replace: 'holders = new Set();',
    seed: 232,
  },
  {
    name: 'columns with a dot in their name are not quoted',
    file: 'src/typing/shape.ts',
    find: ': quoteIdentifier(column);',
    replace: ': column;',
    seed: 36,
  },
  {
    name: 'dataset names in one text are read as a list',
    file: 'src/typing/shape.ts',
    find: " && (path === 'attributes' || path === 'datasets')",
    replace: " && path === 'attributes'",
    seed: 37,
  },
  {
    name: 'changes that become visible late are never read',
    file: 'src/run/plan/read-overlap.ts',
    find: 'if (feedOverlap === 0) return undefined;',
    replace: 'if (feedOverlap >= 0) return undefined;',
    seed: 38,
  },
  {
    name: 'a page that denies waiting changes is the end of the feed',
    file: 'src/source/feed-pages.ts',
    find: 'return !hasMore && rows > 0 &&',
    replace: 'return !hasMore && rows > 1e9 &&',
    heldBy:
      'runs know the newest change, and read on: test/run/denied-changes.test.ts, one more request follows only a page as long as the longest so far',
  },
  {
    name: 'an export that lacks rows is a complete copy',
    file: 'src/plan/is-clearly-fewer.ts',
    find: 'return counted - came > moved +',
    replace: 'return counted - came > 1_000_000n + moved +',
    heldBy: 'several counts have to agree: test/run/short-copy.test.ts, marks nothing as gone',
  },
  {
    name: 'an export that the service cut is a complete copy',
    file: 'src/plan/export-gate.ts',
    find: 'return contradicts || isFlagged',
    replace: 'return isFlagged',
    heldBy:
      'counts catch it as well: test/plan/export-gate.test.ts, only an explicit false and equal counts prove that an export is complete',
  },
  {
    name: 'rows behind the last one that the journal names stay in files of items',
    file: 'src/run/open/open-run.ts',
    find: '    await cutItemTails(unfinished);\n',
    replace: '',
    trouble: 'power-loss',
    heldBy:
      'few losses come between two pages of a file: test/run/altered-pages.test.ts, rows after the last one that the journal lists are ignored',
  },
  {
    name: 'a memory without a whole line is taken for an empty one by verify',
    file: 'src/verify/prove-landing.ts',
    find: "if (lines.pop() !== '') yield",
    replace: "if (lines.pop() === '\\0') yield",
    trouble: 'damage',
    heldBy: "few damages hit it: test/verify/prove-landing.test.ts, in the lake's saved state",
  },
  {
    name: 'verify does not compare data files with the checksums of the log',
    file: 'src/verify/prove-files.ts',
    find: 'file.sha256 === undefined || found === file.sha256',
    replace: 'file.sha256 === undefined || found !== undefined',
    trouble: 'damage',
    heldBy: 'values show most of it: test/verify/verify-lake.test.ts, a flipped byte, truncated and missing files',
  },
  {
    name: 'a log entry that changed since it was written is read',
    file: 'src/lake/log-seal.ts',
    find: "hash(text.replace(member, '')) !== seal",
    replace: 'member === text',
    trouble: 'damage',
    heldBy: 'few damages leave an entry that reads well: test/verify/prove-logs.test.ts, a run refuses to build on it',
  },
];
