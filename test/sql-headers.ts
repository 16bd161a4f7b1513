import { readdirSync, readFileSync } from 'node:fs';
import { listAnalyses } from '../src/analyze/analysis.js';
import { readVariables } from '../src/analyze/variables.js';
import { parseCheck } from '../src/check/parse.js';

const CHECKS = 'pipelines/checks';

/**
 * Reads the header of each shipped check and analysis before any test. Most tests load all of them, so one with a fault
 * would fail many tests, none of which is about it.
 */
export default function readSqlHeaders(): void {
  for (const name of readdirSync(CHECKS).filter((file) => file.endsWith('.sql'))) {
    const file = `${CHECKS}/${name}`;
    const { found } = stopAt(() => parseCheck(readFileSync(file, 'utf8'), file));
    if (found === undefined) stop(`${file}:1: the header has no "-- found:" line, which says what the rows are`);
  }
  for (const name of listAnalyses()) stopAt(() => readVariables(name));
}

/** Throws without a stack, which would only contain this file. */
function stop(message: string): never {
  const error = new Error(message);
  error.stack = '';
  throw error;
}

function stopAt<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return stop((error as Error).message);
  }
}
