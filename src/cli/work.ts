import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { messageOf } from './exit-codes.js';

/** No task is longer: its SQL may name tens of thousands of files. */
const MAX_TASK = 64 * 1024 * 1024;

/**
 * `pricelake __work`: does one task of a cluster. It comes as a line on stdin, and its answer goes to stdout. When stdin
 * ends before, nobody waits for the answer any more.
 */
export async function work({ stdin, stdout, stderr } = process): Promise<void> {
  const { doTask } = await import('../run/do-task.js');
  const ended = new AbortController();
  const lines = createInterface({ input: stdin });
  lines.once('close', () => ended.abort(new Error('the task was given up')));
  try {
    const [line] = (await once(lines, 'line', { signal: ended.signal })) as [string];
    if (line.length > MAX_TASK) throw new Error('the task is too long');
    const answer = await doTask(line, ended.signal);
    await new Promise<void>((resolve) => stdout.write(`${answer}\n`, () => resolve()));
  } catch (error) {
    stderr.write(`pricelake: ${messageOf(error)}\n`);
    process.exitCode = 1;
  } finally {
    stdin.destroy();
  }
}
