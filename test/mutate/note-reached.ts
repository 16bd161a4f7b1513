import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll } from 'vitest';

/** Code with mutants in it counts here which of them were reached. */
interface Stryker {
  mutantCoverage?: { static: Record<string, number> };
}

const folder = process.env.MUTATE_REACHED;
const start = Date.now();
if (folder !== undefined) {
  // biome-ignore lint/correctness/noEmptyPattern: vitest demands a pattern.
  afterAll(({}, { tasks, file, result }) => {
    const { __stryker__: noted } = globalThis as { __stryker__?: Stryker };
    const isFailed = result?.state === 'fail' || tasks.some((task) => task.result?.state === 'fail');
    const reached = {
      ids: Object.keys(noted?.mutantCoverage?.static ?? {}),
      seconds: Math.round((Date.now() - start) / 100) / 10,
      isPassed: !isFailed,
    };
    writeFileSync(path.join(folder, file.name.replaceAll('/', '+')), JSON.stringify(reached));
  });
}
