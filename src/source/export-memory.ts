import type { Io } from '../io/io.js';
import { listBrokenExports, type Memory } from '../journal/memory.js';
import type { ExportMemory } from '../plan/broken-exports.js';

const REASON_LENGTH = 300;

/** What a lake remembers of exports that broke off. */
export function openExportMemory(memory: Pick<Memory, 'state' | 'append'>, io: Io): ExportMemory {
  return {
    find: (name) => memory.state.broken.get(name),
    list: () => listBrokenExports(memory.state),
    async note(name, { rows, reason }) {
      const before = memory.state.broken.get(name);
      const one = {
        name,
        runs: (before?.runs ?? 0) + 1,
        rows: (before?.rows ?? 0n) + rows,
        at: io.now(),
        reason: reason.slice(0, REASON_LENGTH),
      };
      await memory.append({ type: 'broken', ...one, at: one.at.toISOString() });
      return one;
    },
    async forget(name) {
      if (memory.state.broken.has(name)) await memory.append({ type: 'whole', name });
    },
  };
}
