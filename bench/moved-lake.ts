import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startSandbox, sync, time } from './processes.js';

const STEPS = 18;
const DAY_MS = 24 * 3600 * 1000;

interface MovedLake {
  /** The folder that contains the lake and its pipeline file. */
  folder: string;
  items: number;
  changes: number;
  /** The number of days of changes to generate, and of days in `price_spread_daily`. */
  days: number;
}

/** The seconds that each part took. */
export interface Made {
  start: number;
  advance: number;
  firstSync: number;
  secondSync: number;
}

/**
 * Copies a sandbox after generating days of changes in steps, and again a day later, so that all of the days are
 * closed. The lake is in the folder's subfolder `lake`.
 */
export async function makeMovedLake({ folder, items, changes, days }: MovedLake): Promise<Made> {
  const file = path.join(folder, 'bench.yaml');
  await mkdir(folder, { recursive: true });
  await writeFile(file, describePipeline(path.join(folder, 'lake'), days));
  const begin = new Date(Date.now() - (days + 2) * DAY_MS).toISOString();
  const [start, sandbox] = await time(() => startSandbox(items, ['--plan', 'unlimited', '--start', begin]));
  try {
    const [advance] = await time(async () => {
      for (let i = 0; i < STEPS; i++) await sandbox.advance(Math.round(changes / STEPS), (days * 24) / STEPS);
    });
    const [firstSync] = await time(() => sync(sandbox, file));
    await sandbox.advance(Math.round(changes / days), 24);
    const [secondSync] = await time(() => sync(sandbox, file));
    return { start, advance, firstSync, secondSync };
  } finally {
    await sandbox.stop();
  }
}

/** Builds a pipeline file with the demo's attribute mappings, which match the sandbox's shops. */
const describePipeline = (lake: string, days: number) => `name: bench
source:
  baseUrl: \${PRICELAKE_BASE_URL}
  apiKey: \${PRICELAKE_API_KEY}
lake: { path: ${lake} }
landing: { keep: 0 }
analysis:
  daily: ${days}d
  attributes:
    availability: [availability, stock]
    shippingCost: shipping
    regularPrice: regularPrice
`;
