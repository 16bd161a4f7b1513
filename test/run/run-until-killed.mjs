/** Child process of the crash tests: runs a sync of the built code and kills itself with SIGKILL at the step it is told. */
import { realIo } from '../../dist/io/real-io.js';
import { syncWithWings } from '../../dist/wings/index.js';

const { pipeline, now, killAt } = JSON.parse(process.argv[2]);
await syncWithWings(pipeline, {
  ...realIo,
  now: () => new Date(now),
  log: (_level, event, { what = '', table = '' } = {}) => {
    if (`${event} ${what}${table}` === killAt) process.kill(process.pid, 'SIGKILL');
  },
});
