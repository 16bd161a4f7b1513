import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startSandbox, sync, time } from './processes.js';

const STEPS = 18;
const DAY_MS = 24 * 3600 * 1000;

interface MovedLake {
  /** A folder for the lake and its pipeline file. */
  folder: string;
  items: number;
  changes: number;
  /** Days that the world moves, and days of `price_spread_daily`. */
  days: number;
}

/** Seconds that its parts took. */
export interface Made {
  start: number;
  advance: number;
  firstSync: number;
  secondSync: number;
}

/**
 * Copies a sandbox whose world moved for so many days, in steps, and once more a day later. Another day is over then, so
 * that all of them are closed. The lake is in `lake` of the folder.
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

/** Attributes as in the demo's pipeline: what the sandbox's shops tell. */
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
