/** Child process of the tests of remotes: a run of its own, which they kill. */
import { realIo } from '../../src/io/real-io.js';
import { syncWithWings } from '../../src/wings/index.js';

await syncWithWings(JSON.parse(process.argv[2] as string), realIo);
