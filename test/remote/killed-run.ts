/** Child process of the tests of remotes: a run of its own, which they kill. */
import { realIo } from '../../src/io/io.js';
import { syncPipeline } from '../../src/run/sync-pipeline.js';

await syncPipeline(JSON.parse(process.argv[2] as string), realIo);
