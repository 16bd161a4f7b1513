import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Whole runs take longest: begun last, one of them would keep one worker busy while the other has nothing to do. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = (file: TestSpecification) =>
      /\/test\/(sync|account|backfill|compare|rebuild|sim|cli)\//.test(file.moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/interop/**', 'test/browser/**', 'test/postgres/**'],
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
});
