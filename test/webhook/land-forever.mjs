/** Child process of the test that kills: lands event after event, and says so of each when it is durable. */
import { realIo } from '../../dist/io/real-io.js';
import { EventStore } from '../../dist/wings/webhook/event-store.js';

const store = await EventStore.open(process.argv[2], realIo);
const padding = 'x'.repeat(20_000);
for (let n = 0; ; n += 4) {
  await Promise.all(
    [n, n + 1, n + 2, n + 3].map(async (k) => {
      const id = `evt_${k}`;
      await store.land(id, Buffer.from(JSON.stringify({ id, type: 'changes', changes: [], padding })));
      process.stdout.write(`${id}\n`);
    }),
  );
}
