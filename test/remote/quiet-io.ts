import type { Io } from '../../src/io/io.js';
import { realIo } from '../../src/io/real-io.js';

/** Never waits in real time, and records the log. */
export function makeIo(): Io & { events: string[]; logged: string } {
  const io = {
    ...realIo,
    events: [] as string[],
    logged: '',
    sleep: async () => {},
    log: (_level: string, event: string, facts?: object) => {
      io.events.push(event);
      io.logged += `${event} ${JSON.stringify(facts, (_key, value) => (typeof value === 'bigint' ? String(value) : value))}\n`;
    },
  };
  return io;
}
