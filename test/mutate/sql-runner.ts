import { existsSync } from 'node:fs';
import { createVitest, type TestModule } from 'vitest/node';

/** `invalid`: DuckDB refuses the text before it runs, which any test would notice. */
export type Verdict = 'killed' | 'survived' | 'invalid';

export interface SqlRunner {
  /** Runs the tests until one fails; `reason` is its error. */
  judge(path: string, text: string, tests: string[]): Promise<{ verdict: Verdict; reason?: string }>;
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
        vitest.state.filesMap.clear(); // failures of the mutant before would end this run by `bail`
        const specifications = await vitest.globTestSpecifications([file]);
        const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
        if (testModules.every((module) => module.ok()) && unhandledErrors.length === 0) continue;
        const reasons = [...listErrors(testModules), ...unhandledErrors].map((error) =>
          String((error as Error).message),
        );
        if (reasons.length === 0) throw new Error(`${file}: its run ended before a test failed`);
        const isInvalid = reasons.some((reason) => /^(Parser|Binder|Catalog) Error/.test(reason));
        return { verdict: isInvalid ? 'invalid' : 'killed', reason: reasons.join('\n') };
      }
      return { verdict: 'survived' };
    },
    close: () => vitest.close(),
  };
}

function listErrors(modules: readonly TestModule[]): readonly unknown[] {
  return modules.flatMap((module) => [
    ...module.errors(),
    ...[...module.children.allTests()].flatMap((test) => test.result().errors ?? []),
    ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
  ]);
}

/** Test files of a target, by the names in SQL_TARGETS. */
export function testFiles(names: readonly string[]): string[] {
  const files = names.map((name) => `test/${name}.test.ts`);
  const lost = files.filter((file) => !existsSync(file));
  if (lost.length > 0) throw new Error(`test/mutate/sql-targets.ts names tests that are not there: ${lost.join(', ')}`);
  return files;
}
