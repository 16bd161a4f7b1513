/** Child process: runs a sync of the built code, stops itself at the step it is told, and says how the sync ended. */
import { realIo } from '../../dist/io/real-io.js';
import { syncWithWings } from '../../dist/wings/index.js';

const { pipeline, stopAt } = JSON.parse(process.argv[2]);
const io = {
  ...realIo,
  log: (_level, event, { what = '', table = '' } = {}) => {
    if (`${event} ${what}${table}` === stopAt) process.kill(process.pid, 'SIGSTOP');
  },
};
await syncWithWings(pipeline, io).then(
  () => console.log('published'),
  (error) => console.log(error.code ?? error, error.message),
);
