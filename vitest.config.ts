import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/interop/**', 'test/browser/**'],
    globalSetup: 'test/build.ts',
    // Far beyond what any takes: a machine may be slow, but nothing may wait for ever.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // Starting a process and loading everything anew for each file takes a quarter of the whole time.
    isolate: false,
  },
});
