/**
 * Shows some mutants of a room of src, drawn evenly at random, to the tests of the room:
 * npm run mutate:sample -- ROOM [--count 100] [--seed 1] [--mutate src/a.ts:10:4-10:20]
 */
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';

const STORIES = ['changes', 'differences', 'sources', 'told'].map((name) => `test/front/${name}.test.ts`);

/** Tests that cover a room and end soon; `MUTATE_TESTS` takes their place. */
const TESTS: Record<string, readonly string[]> = {
  check: ['test/check/**/*.test.ts'],
  apply: ['test/apply/**/*.test.ts', ...STORIES, 'test/run/prove-products.test.ts'],
  remote: ['test/remote/**/*.test.ts'],
  run: [
    ...STORIES,
    ...['deadline', 'estimate-run', 'held', 'land', 'product-parts', 'stage-derived'].map(
      (name) => `test/run/${name}.test.ts`,
    ),
  ],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    mutate: { type: 'string', multiple: true },
  },
});
const [room = ''] = positionals;
const tests = TESTS[room];
if (tests === undefined) throw new Error(`give a room: ${Object.keys(TESTS).join(', ')}`);

process.env.MUTATE_TESTS ??= tests.join(',');
process.env.MUTATE_SAMPLE = `${values.count}:${values.seed}`;
const results = await new Stryker({
  configFile: 'test/mutate/stryker.config.json',
  mutate: values.mutate ?? [`src/${room}/**/*.ts`],
  plugins: ['@stryker-mutator/*', './test/mutate/sample-checker.mjs'],
  checkers: ['sample'],
  incremental: false,
  reporters: ['clear-text', 'progress-append-only', 'json'],
  jsonReporter: { fileName: `test/mutate/reports/${room}.json` },
  // On a loaded machine a test may take long without a reason in the mutant.
  timeoutMS: 300_000,
}).runMutationTest();

const count = (...states: string[]) => results.filter(({ status }) => states.includes(status)).length;
const killed = count('Killed', 'Timeout');
const all = killed + count('Survived', 'NoCoverage');
const timeouts = count('Timeout');
console.log(`${room}, seed ${values.seed}: ${killed} of ${all} mutants killed (${timeouts} by a timeout)`);
process.exit();
