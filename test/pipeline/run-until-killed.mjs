/** Child process of the crash tests: runs a sync of the built code and kills itself with SIGKILL at the step it is told. */
import { realIo } from '../../dist/io.js';
import { syncPipeline } from '../../dist/pipeline/sync.js';

const STEPS = ['landed', 'settled', 'audited', 'committed', 'pointed'];
const { pipeline, now, killAt, commits } = JSON.parse(process.argv[2]);
let step = 0;
await syncPipeline(pipeline, {
  ...realIo,
  now: () => new Date(now),
  log: (_level, event, facts) => {
    // Of the staged tables, the middle one stands for all: none of them is visible yet.
    if (!STEPS.includes(event) && !(event === 'staged' && facts.table === 'items')) return;
    if (event === 'committed' && !commits.includes(facts.table)) return;
    if (++step === killAt) process.kill(process.pid, 'SIGKILL');
  },
});
