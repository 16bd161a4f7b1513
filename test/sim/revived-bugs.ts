/** Defects that were found once, or that a weaker protocol would have, each as a change of one text in the code. */
export interface RevivedBug {
  name: string;
  file: string;
  find: string;
  replace: string;
  /** True if it takes a power loss to meet it. */
  losesPower: boolean;
}

const JOURNAL = 'src/journal/journal.ts';
const COMMIT = 'src/lake/commit.ts';

export const REVIVED_BUGS: readonly RevivedBug[] = [
  {
    name: 'lines of the journal are not synced',
    file: JOURNAL,
    find: '      await this.#file.datasync();\n',
    replace: '',
    losesPower: true,
  },
  {
    name: 'the name of a new journal is not synced',
    file: JOURNAL,
    find: 'if (!this.#isNamed) await syncFolder(dirname(this.#path));',
    replace: '',
    losesPower: true,
  },
  {
    name: 'the torn tail of a journal stays before the next line',
    file: JOURNAL,
    find: '      await truncate(path, read.end);\n',
    replace: '',
    losesPower: true,
  },
  {
    name: 'pages are journaled before their bytes are synced',
    file: 'src/source/row-file.ts',
    find: '        await this.#file.datasync();\n',
    replace: '',
    losesPower: true,
  },
  {
    name: 'segments of exports are journaled before their bytes are synced',
    file: 'src/source/segment-writer.ts',
    find: '        await file.datasync();\n',
    replace: '',
    losesPower: true,
  },
  {
    name: 'segments of exports are journaled before their names are synced',
    file: 'src/source/segment-writer.ts',
    find: '      await syncFolder(this.#options.folder);\n      await this.#options.onSegment',
    replace: '      await this.#options.onSegment',
    losesPower: true,
  },
  {
    name: 'data files are committed before their bytes are synced',
    file: 'src/lake/data-file.ts',
    find: '    await file.sync();\n    await checkFooter',
    replace: '    await checkFooter',
    losesPower: true,
  },
  {
    name: 'data files are committed before their names are synced',
    file: COMMIT,
    find: '    await syncFolder(folder);\n    // THE COMMIT POINT',
    replace: '    // THE COMMIT POINT',
    losesPower: true,
  },
  {
    name: 'a commit ends before the name of its log entry is synced',
    file: COMMIT,
    find: '  await syncFolder(log);\n  const staging',
    replace: '  const staging',
    losesPower: true,
  },
  {
    name: 'a log entry gets its name before its bytes are synced',
    file: 'src/lake/durable.ts',
    find: '    await writeSynced(temporary, text);\n    return await linkExclusively',
    replace:
      "    await (await import('node:fs/promises')).writeFile(temporary, text);\n    return await linkExclusively",
    losesPower: true,
  },
  {
    name: 'the names of new folders are not synced',
    file: 'src/io/durable.ts',
    find: 'folder.length >= first.length;',
    replace: 'folder.length < 0;',
    losesPower: true,
  },
  {
    name: 'a file is renamed into place before its bytes are synced',
    file: 'src/io/durable.ts',
    find: '    await writeSynced(temporary, data);\n    await rename',
    replace: "    await (await import('node:fs/promises')).writeFile(temporary, data);\n    await rename",
    losesPower: true,
  },
  {
    name: 'a copy by empty pages is begun again by exports when its run continues',
    file: 'src/plan/plan-copy.ts',
    find: 'polls.some((poll) => poll?.isWhole)',
    replace: 'pagesLanded > 0n && polls.some((poll) => poll?.isWhole)',
    losesPower: true,
  },
  {
    name: 'rows of complete exports are forgotten when a run continues by pages',
    file: 'src/source/export-shard.ts',
    find: 'one.end === undefined ? [] : placeSegments',
    replace: "one.end !== 'cut' ? [] : placeSegments",
    losesPower: true,
  },
  {
    name: 'items are committed before history',
    file: 'src/tables/table.ts',
    find: "['history', 'price_spread_daily', 'stale_items', 'items']",
    replace: "['items', 'history', 'price_spread_daily', 'stale_items']",
    losesPower: true,
  },
  {
    name: 'items that move between two exports are not polled',
    file: 'src/plan/plan-copy.ts',
    find: 'shards === undefined ? undefined : planSettling(facts, datasets, shards)',
    replace: 'undefined',
    losesPower: false,
  },
  {
    name: 'changes without an item are taken for changes of no item',
    file: 'src/run/land/land-run.ts',
    find: 'feed !== undefined && feed.unnamed > 0',
    replace: 'feed !== undefined && feed.unnamed > 1e9',
    losesPower: false,
  },
  {
    name: 'changes that become visible late are never read',
    file: 'src/run/plan/read-overlap.ts',
    find: 'if (feedOverlap === 0) return undefined;',
    replace: 'if (feedOverlap >= 0) return undefined;',
    losesPower: false,
  },
  {
    name: 'a page that denies waiting changes is the end of the feed',
    file: 'src/source/feed-pages.ts',
    find: 'return !hasMore && rows > 0 &&',
    replace: 'return !hasMore && rows > 1e9 &&',
    losesPower: false,
  },
  {
    name: 'an export that lacks rows is a complete copy',
    file: 'src/plan/judge-copy.ts',
    find: 'return counted - came > moved +',
    replace: 'return counted - came > 1_000_000n + moved +',
    losesPower: false,
  },
  {
    name: 'an export that the service cut is a complete copy',
    file: 'src/plan/export-gate.ts',
    find: 'return contradicts || isFlagged',
    replace: 'return isFlagged',
    losesPower: false,
  },
];
