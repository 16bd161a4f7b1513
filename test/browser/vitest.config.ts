import { defineConfig } from 'vitest/config';

/** `npm run test:browser`: what only a browser can tell. Apart from `npm test`, since not every machine has Chromium. */
export default defineConfig({
  test: {
    globalSetup: ['test/build.ts'],
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
