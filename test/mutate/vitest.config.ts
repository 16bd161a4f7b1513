import { defineConfig } from 'vitest/config';

/** The tests that mutants are shown to: those of the mutated folders, without what runs the built code alone. */
const tests = process.env.MUTATE_TESTS?.split(',') ?? ['test/{lake,journal,source,plan,formats,api}/**/*.test.ts'];

export default defineConfig({
  test: {
    include: tests,
    exclude: ['test/lake/kill.test.ts'],
    globalSetup: ['test/temporary-folder.ts'],
    // No setup files: loading DuckDB for tests that don't use it would take longer than these.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
