import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The tests that mutants are shown to: those of the mutated folders, without what runs the built code alone. */
const tests = process.env.MUTATE_TESTS?.split(',') ?? ['test/{lake,journal,source,plan,formats,api}/**/*.test.ts'];

/** The files in the order in which they are named. */
class AsNamed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => tests.findIndex((test) => moduleId.endsWith(`/${test}`));
    return files.toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    include: tests,
    exclude: ['test/lake/kill.test.ts'],
    globalSetup: ['test/temporary-folder.ts'],
    setupFiles: process.env.MUTATE_REACHED === undefined ? [] : ['test/mutate/note-reached.ts'],
    isolate: process.env.MUTATE_TESTS_SHARE === undefined,
    sequence: { sequencer: AsNamed },
    // Code with all mutants in it is the same for each of them.
    experimental: { fsModuleCache: process.env.MUTATE_TESTS_SHARE !== undefined, fsModuleCachePath: '.module-cache' },
    // No others: loading DuckDB for tests that don't use it would take longer than these.
    // A test that a loaded machine ends late has killed no mutant.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
