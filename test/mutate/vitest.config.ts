import { defineConfig } from 'vitest/config';

/** The tests that mutants are shown to: those of the mutated folders, without what runs the built code alone. */
const tests = process.env.MUTATE_TESTS?.split(',') ?? ['test/{lake,journal,source,plan,formats,api}/**/*.test.ts'];

export default defineConfig({
  test: {
    include: tests,
    exclude: ['test/lake/kill.test.ts'],
    globalSetup: ['test/temporary-folder.ts'],
    // No setup files: loading DuckDB for tests that don't use it would take longer than these.
    // A test that a loaded machine ends late has killed no mutant.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
