import { fileURLToPath } from 'node:url';
import { FolderExchange } from '../../src/workers/exchange.js';
import { TaskPaths } from '../../src/workers/task-paths.js';
import { encodeTask, type TaskKind, writeRequest } from '../../src/workers/workers.js';

/** The built command: a worker is a process of its own. */
export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const STUB = fileURLToPath(new URL('./spark-stub.mjs', import.meta.url));
/** A worker on a machine that sees other folders. */
export const OTHER_VIEW = fileURLToPath(new URL('./other-view.mjs', import.meta.url));

/** `engine` of a pipeline that does all it can on a cluster. */
export function makeEngine(submit: string[], exchange: 'folder' | 'remote' = 'folder') {
  return { spark: { submit, worker: [process.execPath, MAIN], exchange, leastRows: 0 } };
}

/** The same with `spark-stub.mjs`, which stands for a cluster. */
export function stubEngine(...options: string[]) {
  return makeEngine([process.execPath, STUB, ...options]);
}

/** The line of a task whose files are below `root`. */
export async function writeTask<I, O>(kind: TaskKind<I, O>, task: I, root: string): Promise<string> {
  const encoded = encodeTask(kind, task, new TaskPaths({ root, home: root }));
  const exchange = await new FolderExchange(root, root).address();
  return writeRequest(kind, encoded, { memory: '200MB', exchange, files: [] });
}
