import { PricelakeError } from '../../src/errors.js';
import { realIo } from '../../src/io.js';
import { openLake } from '../../src/lake/lake.js';
import { lockLake } from '../../src/lake/lock.js';

/** Takes the lock of a lake and stays: `lock-holder.ts <lake>` prints `locked` or the error's code. */
const lake = await openLake(process.argv[2] ?? '', { create: false });
try {
  await lockLake(lake, realIo);
  console.log('locked');
} catch (error) {
  console.log(error instanceof PricelakeError ? error.code : error);
}
setInterval(() => {}, 1000);
