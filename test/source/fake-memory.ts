import type { BrokenExport } from '../../src/journal/memory.js';
import type { ExportMemory, LostExport } from '../../src/plan/broken-exports.js';
import type { PageMemory } from '../../src/source/feed-pages.js';

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

/** A lake that remembers pages of the feed as long as they may be, and what it is told of them. */
export function fakePages(longestPage = 1000, deniedMoreAt?: Date) {
  const memory: PageMemory = {
    state: { longestPage, deniedMoreAt },
    append: async (...entries) => {
      for (const entry of entries) if (entry.type === 'pages') noted.push(entry);
    },
  };
  const noted: unknown[] = [];
  return { memory, noted };
}
