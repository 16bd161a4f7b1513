import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Whole runs take longest: begun last, one of them would keep one worker busy while the other has nothing to do. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = (file: TestSpecification) =>
      /\/test\/(sync|account|backfill|compare|front|rebuild|sim|cli)\//.test(file.moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** Long stories of whole runs: `npm run test:long`. `npm test` takes all others, `npx vitest run` whatever you name. */
const LONG = [
  'test/account/account-changes.test.ts',
  'test/account/budget.test.ts',
  'test/backfill/item-histories.test.ts',
  'test/cli/stop-sync.test.ts',
  'test/compare/compare-facets.test.ts',
  'test/compare/compare-items.test.ts',
  'test/compare/compare-listing.test.ts',
  'test/compare/compare-products.test.ts',
  'test/docs/run-examples.test.ts',
  'test/front/differences.test.ts',
  'test/front/files.test.ts',
  'test/front/sources.test.ts',
  'test/rebuild/rebuild-damaged.test.ts',
  'test/rebuild/rebuild.test.ts',
  'test/remote/empty-disk.test.ts',
  'test/remote/hostile-bucket.test.ts',
  'test/sandbox/readings-sync.test.ts',
  'test/sim/edge-cases.test.ts',
  'test/sim/lagging-service.test.ts',
  'test/sim/loaded-machine.test.ts',
  'test/sim/old-cursor.test.ts',
  'test/sim/renamed-datasets.test.ts',
  'test/sim/stopped-runs.test.ts',
  'test/sync/backfill-history.test.ts',
  'test/sync/broken-exports.test.ts',
  'test/sync/crash.test.ts',
  'test/sync/csv.test.ts',
  'test/sync/damaged-journal.test.ts',
  'test/sync/datasets.test.ts',
  'test/sync/disk-full.test.ts',
  'test/sync/error-table.test.ts',
  'test/sync/export-headers.test.ts',
  'test/sync/foreign-commits.test.ts',
  'test/sync/hydration-export.test.ts',
  'test/sync/large-lake.test.ts',
  'test/sync/loaded-machine.test.ts',
  'test/sync/many-partitions.test.ts',
  'test/sync/many-shops.test.ts',
  'test/sync/modes.test.ts',
  'test/sync/moved-products.test.ts',
  'test/sync/plain-reads.test.ts',
  'test/sync/open-tables.test.ts',
  'test/sync/package.test.ts',
  'test/sync/pages.test.ts',
  'test/sync/plan-equals-run.test.ts',
  'test/sync/refused-calls.test.ts',
  'test/sync/service-time.test.ts',
  'test/sync/shards.test.ts',
  'test/sync/stage-daily.test.ts',
  'test/sync/unnamed-changes.test.ts',
  'test/sync/other-format.test.ts',
  'test/sync/webhook.test.ts',
  'test/verify/prove-landing.test.ts',
  'test/verify/published-files.test.ts',
];

const NEEDS_MORE = ['test/interop/**', 'test/browser/**', 'test/postgres/**'];

export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'long' ? LONG : ['test/**/*.test.ts'],
    exclude: mode === 'short' ? [...NEEDS_MORE, ...LONG] : NEEDS_MORE,
    globalSetup: ['test/build.ts', 'test/temporary-folder.ts'],
    setupFiles: ['test/one-thread.ts'],
    // Far beyond what any takes: a machine may be slow, but nothing may wait for ever.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // One more than a machine of two has cores: while one waits for the disk or a child process, the others go on.
    maxWorkers: 3,
    // Starting a process and loading everything again for each file takes a quarter of the whole time.
    isolate: false,
    sequence: { sequencer: LongestFirst },
  },
}));
