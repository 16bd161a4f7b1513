import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { Io } from '../io/io.js';
import { writeDurably } from '../lake/durable.js';
import type { Lake } from '../lake/lake.js';
import type { BrokenExport, ExportMemory } from '../plan/broken-exports.js';

/** A copy has at most an export for each website. Beyond the limit, the oldest ones are forgotten. */
const MOST = 500;
const REASON_LENGTH = 300;

const remembered = z.array(
  z.strictObject({
    name: z.string(),
    runs: z.int().min(1),
    rows: z.string().regex(/^\d+$/).transform(BigInt),
    at: z.iso.datetime().transform((text) => new Date(text)),
    reason: z.string(),
  }),
);

const memoryPath = ({ root }: Lake) => path.join(root, '_pricelake', 'broken-exports.json');

/** Exports that broke off in earlier runs; none if the file is missing, damaged or of another version. */
export async function listBrokenExports(lake: Lake): Promise<BrokenExport[]> {
  const text = await readFile(memoryPath(lake), 'utf8').catch(() => '[]');
  try {
    return remembered.parse(JSON.parse(text));
  } catch {
    return [];
  }
}

/** Opens the lake's memory of broken exports. Changes are written one after the other. */
export async function openExportMemory(lake: Lake, io: Io): Promise<ExportMemory> {
  const broken = new Map((await listBrokenExports(lake)).map((one) => [one.name, one]));
  let writing: Promise<void> = Promise.resolve();
  const save = () => {
    const newest = [...broken.values()].sort((a, b) => b.at.getTime() - a.at.getTime()).slice(0, MOST);
    const text = `${JSON.stringify(newest, (_key, value) => (typeof value === 'bigint' ? String(value) : value))}\n`;
    const written = writing.then(() => writeDurably(lake, memoryPath(lake), text));
    writing = written.catch(() => {}); // the caller gets the error
    return written;
  };
  return {
    find: (name) => broken.get(name),
    list: () => [...broken.values()],
    async note(name, { rows, reason }) {
      const before = broken.get(name);
      const one: BrokenExport = {
        name,
        runs: (before?.runs ?? 0) + 1,
        rows: (before?.rows ?? 0n) + rows,
        at: io.now(),
        reason: reason.slice(0, REASON_LENGTH),
      };
      broken.set(name, one);
      await save();
      return one;
    },
    async forget(name) {
      if (broken.delete(name)) await save();
    },
  };
}
