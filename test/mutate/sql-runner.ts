import { existsSync } from 'node:fs';
import { createVitest, type TestModule } from 'vitest/node';

/** `invalid`: DuckDB refuses the text before it runs, which any test would notice. */
export type Verdict = 'killed' | 'survived' | 'invalid';

export interface SqlRunner {
  /** Runs the tests until one fails. */
  judge(path: string, text: string, tests: string[]): Promise<Verdict>;
  close(): Promise<void>;
}

export async function openRunner(): Promise<SqlRunner> {
  const vitest = await createVitest('test', {
    config: 'test/mutate/vitest.config.ts',
    include: ['test/**/*.test.ts'],
    exclude: [],
    setupFiles: ['test/one-thread.ts', 'test/mutate/serve-mutant.ts'],
    watch: false,
    bail: 1,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 1,
    fileParallelism: false,
    reporters: [{}],
  });
  return {
    async judge(path, text, tests) {
      vitest.provide('sqlMutant', { path, text });
      for (const file of tests) {
        const specifications = await vitest.globTestSpecifications([file]);
        const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
        if (testModules.every((module) => module.ok()) && unhandledErrors.length === 0) continue;
        return isInvalid(testModules, unhandledErrors) ? 'invalid' : 'killed';
      }
      return 'survived';
    },
    close: () => vitest.close(),
  };
}

function isInvalid(modules: readonly TestModule[], unhandled: readonly unknown[]): boolean {
  const errors = modules.flatMap((module) => [
    ...module.errors(),
    ...[...module.children.allTests()].flatMap((test) => test.result().errors ?? []),
    ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
  ]);
  return [...errors, ...unhandled].some((error) =>
    /^(Parser|Binder|Catalog) Error/.test(String((error as Error).message)),
  );
}

/** Test files of a target, by the names in SQL_TARGETS. */
export function testFiles(names: readonly string[]): string[] {
  const files = names.map((name) => `test/${name}.test.ts`);
  const lost = files.filter((file) => !existsSync(file));
  if (lost.length > 0) throw new Error(`test/mutate/sql-targets.ts names tests that are not there: ${lost.join(', ')}`);
  return files;
}
