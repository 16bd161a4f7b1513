import { fileURLToPath } from 'node:url';

/** The built command: a worker is a process of its own. */
export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const STUB = fileURLToPath(new URL('./spark-stub.mjs', import.meta.url));
/** A worker on a machine that sees other folders. */
export const OTHER_VIEW = fileURLToPath(new URL('./other-view.mjs', import.meta.url));

/** `engine` of a pipeline that does all it can on a cluster, for which `spark-stub.mjs` stands. */
export function stubEngine(...options: string[]) {
  return { spark: { submit: [process.execPath, STUB, ...options], worker: [process.execPath, MAIN], leastRows: 0 } };
}
