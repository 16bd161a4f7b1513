import type { BrokenExport } from '../../src/journal/memory.js';
import type { ExportMemory, LostExport } from '../../src/plan/broken-exports.js';
import type { PageMemory } from '../../src/source/feed-pages.js';

const EPOCH = () => new Date(0);

/** The saved state of interrupted exports, which records changes to it. */
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

/** The saved state of the feed's page lengths, which records changes to it. */
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
