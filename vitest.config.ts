import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Whole runs take longest: begun last, one of them would keep one worker busy while the other has nothing to do. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = (file: TestSpecification) => /\/test\/(run|source|front|sim|cli|remote)\//.test(file.moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** Long stories of whole runs: `npm run test:long`, or `npx vitest run --mode long` and the file. All else leaves them out. */
const LONG = [
  'test/analyze/availability.test.ts',
  'test/analyze/matches.test.ts',
  'test/analyze/period-prices.test.ts',
  'test/apply/lagging-rows.test.ts',
  'test/apply/odd-times.test.ts',
  'test/apply/stale-sources.test.ts',
  'test/cli/demo-again.test.ts',
  'test/cli/mcp/analyses.test.ts',
  'test/cli/mcp/money.test.ts',
  'test/cli/notify.test.ts',
  'test/cli/query-source.test.ts',
  'test/cli/results/outputs.test.ts',
  'test/cli/stop-sync.test.ts',
  'test/docs/run-examples.test.ts',
  'test/docs/skills.test.ts',
  'test/explore/follow.test.ts',
  'test/explore/moves.test.ts',
  'test/explore/report-sections.test.ts',
  'test/explore/retry.test.ts',
  'test/front/attributes.test.ts',
  'test/front/changes.test.ts',
  'test/front/derived.test.ts',
  'test/front/differences.test.ts',
  'test/front/files.test.ts',
  'test/front/matches.test.ts',
  'test/front/rebuild.test.ts',
  'test/front/sources.test.ts',
  'test/front/told.test.ts',
  'test/lake/splice.test.ts',
  'test/remote/empty-disk.test.ts',
  'test/remote/explore.test.ts',
  'test/remote/hostile-bucket.test.ts',
  'test/run/backfill-history.test.ts',
  'test/run/broken-exports.test.ts',
  'test/run/crash.test.ts',
  'test/run/csv.test.ts',
  'test/run/damaged-journal.test.ts',
  'test/run/datasets.test.ts',
  'test/run/disk-full.test.ts',
  'test/run/error-table.test.ts',
  'test/run/establish-listing.test.ts',
  'test/run/estimate-follows-run.test.ts',
  'test/run/estimate-run.test.ts',
  'test/run/export-headers.test.ts',
  'test/run/foreign-commits.test.ts',
  'test/run/hydration-export.test.ts',
  'test/run/large-lake.test.ts',
  'test/run/loaded-machine.test.ts',
  'test/run/many-partitions.test.ts',
  'test/run/modes.test.ts',
  'test/run/moved-products.test.ts',
  'test/run/open-tables.test.ts',
  'test/run/other-format.test.ts',
  'test/run/package.test.ts',
  'test/run/pages.test.ts',
  'test/run/plain-reads.test.ts',
  'test/run/plan-equals-run.test.ts',
  'test/run/prove-facets.test.ts',
  'test/run/prove-products.test.ts',
  'test/run/prove-sample.test.ts',
  'test/run/rebuild-damaged.test.ts',
  'test/run/rebuild.test.ts',
  'test/run/refused-calls.test.ts',
  'test/run/renamed-dataset.test.ts',
  'test/run/schema-drift.test.ts',
  'test/run/service-time.test.ts',
  'test/run/shards.test.ts',
  'test/run/short-copy.test.ts',
  'test/run/stage-daily.test.ts',
  'test/run/stopped-holder.test.ts',
  'test/run/unsure-items.test.ts',
  'test/run/webhook.test.ts',
  'test/sandbox/export.test.ts',
  'test/sandbox/readings-sync.test.ts',
  'test/sandbox/readings.test.ts',
  'test/sandbox/webhooks.test.ts',
  'test/sandbox/world.test.ts',
  'test/sim/edge-cases.test.ts',
  'test/sim/lagging-service.test.ts',
  'test/sim/loaded-machine.test.ts',
  'test/sim/old-cursor.test.ts',
  'test/sim/renamed-datasets.test.ts',
  'test/sim/stopped-runs.test.ts',
  'test/source/account-changes.test.ts',
  'test/source/budget.test.ts',
  'test/source/item-histories.test.ts',
  'test/source/probes.test.ts',
  'test/verify/prove-landing.test.ts',
  'test/verify/published-files.test.ts',
];

const NEEDS_MORE = ['test/interop/**', 'test/browser/**', 'test/postgres/**'];

export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'long' ? LONG : ['test/**/*.test.ts'],
    exclude: mode === 'long' ? NEEDS_MORE : [...NEEDS_MORE, ...LONG],
    globalSetup: ['test/build.ts', 'test/temporary-folder.ts'],
    setupFiles: ['test/one-thread.ts'],
    // Far beyond what any takes: a machine may be slow, but nothing may wait for ever.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // One more than a machine of two has cores: while one waits for the disk or a child process, the others go on.
    maxWorkers: 3,
    // Starting a process and loading everything again for each file takes a quarter of the whole time.
    isolate: false,
    // Half of what a run of one file takes: modules that have not changed are kept transformed.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LongestFirst },
  },
}));
