import { defineConfig } from 'vitest/config';

/** `npm run test:postgres`: what only a PostgreSQL server can tell. Apart from `npm test`, since not every machine has one. */
export default defineConfig({
  test: {
    include: ['test/postgres/**/*.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
