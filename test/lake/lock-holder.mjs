/** Child process of the lock's tests: takes the lock of a lake, says `locked` or the error's code, and stays. */
import { realIo } from '../../dist/io/real-io.js';
import { openLake } from '../../dist/lake/lake.js';
import { lockLake } from '../../dist/lake/lock.js';

const lake = await openLake(process.argv[2], { create: false });
try {
  await lockLake(lake, realIo);
  console.log('locked');
} catch (error) {
  console.log(error.code ?? error);
}
setInterval(() => {}, 1000);
