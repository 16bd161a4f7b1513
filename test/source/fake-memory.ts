import type { BrokenExport } from '../../src/journal/memory.js';
import type { ExportMemory, LostExport } from '../../src/plan/broken-exports.js';

const EPOCH = () => new Date(0);

/** A lake's memory of broken exports that notes what it is told. */
export function fakeMemory(broken?: BrokenExport, now = EPOCH) {
  const noted: (LostExport & { name: string })[] = [];
  const forgotten: string[] = [];
  const memory: ExportMemory = {
    list: () => (broken === undefined ? [] : [broken]),
    note: async (name, lost) => {
      noted.push({ name, ...lost });
      return { name, at: now(), ...lost, runs: (broken?.runs ?? 0) + 1 };
    },
    forget: async (name) => void forgotten.push(name),
  };
  return { memory, noted, forgotten };
}
