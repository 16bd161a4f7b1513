import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** What a row of the bench measured. */
export interface Figures {
  seconds: number;
  cpuSeconds: number;
  peakBytes: number;
  /** What the sandbox used of the same cores, as far as the system tells. */
  sandboxCpuSeconds?: number;
  plain?: { seconds: number; cpuSeconds: number };
  exact?: { seconds: number; cpuSeconds: number };
  steps: Record<string, number>;
}

/** The last recorded run of the bench: rows by title. */
export type Recorded = Record<string, Figures & { at: string; load: number }>;

const FILE = fileURLToPath(new URL('./recorded.json', import.meta.url));

export async function readRecorded(): Promise<Recorded> {
  const text = await readFile(FILE, 'utf8').catch(() => '{}');
  return JSON.parse(text) as Recorded;
}

/** Rows that were not measured this time stay as they are. */
export async function writeRecorded(rows: Recorded): Promise<void> {
  await writeFile(FILE, `${JSON.stringify({ ...(await readRecorded()), ...rows }, null, 2)}\n`);
}
