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
  const giveUp = () => ended.abort(new Error('the task was given up'));
  stdin.once('end', giveUp).once('error', giveUp);
  try {
    const answer = await doTask(await readLine(stdin, ended.signal), ended.signal);
    await new Promise<void>((resolve) => stdout.write(`${answer}\n`, () => resolve()));
  } catch (error) {
    stderr.write(`pricelake: ${messageOf(error)}\n`);
    process.exitCode = 1;
  } finally {
    stdin.destroy();
  }
}

/** The first line. Only a newline ends it: node:readline would also break a text at U+2028. */
function readLine(stdin: NodeJS.ReadStream, signal: AbortSignal): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    stdin.setEncoding('utf8').on('data', (text: string) => {
      const end = text.indexOf('\n');
      parts.push(end < 0 ? text : text.slice(0, end));
      length += text.length;
      if (length > MAX_TASK) reject(new Error('the task is too long'));
      if (end >= 0) resolve(parts.join(''));
    });
  });
}
