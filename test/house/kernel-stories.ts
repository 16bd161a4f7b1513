// Runs of the kernel with the wings that are left: test/house/wings.test.ts runs a copy of this in a copy of the project.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Pipeline } from '../../src/config/pipeline-file.js';
import { pipelineSchema } from '../../src/config/pipeline-schema.js';
import { realIo } from '../../src/io/real-io.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { syncWithWings } from '../../src/wings/index.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pricelake-stories-'));
const sandbox = await startSandbox({ items: 60, sites: 2, pastDays: 2, ratePerSecond: null });
const source = { baseUrl: sandbox.baseUrl, apiKey: sandbox.keys.live };
const values = pipelineSchema.parse({ source, lake: { path: path.join(folder, 'lake') } });
const pipeline: Pipeline = { ...values, file: 'stories.yaml', source: { ...values.source, apiKey: source.apiKey } };
const io = { ...realIo, sleep: async () => {} };

/** One run, in a word. @param end ends the process's work at this event of its log */
async function sync(end?: string): Promise<string> {
  const log = (_level: string, event: string) => {
    if (event === end) throw new Error('the process dies');
  };
  try {
    const { row, published, resumed } = await syncWithWings(pipeline, { ...io, log });
    if (!row.caught_up) return 'not caught up';
    return published ? `${resumed ? 'continued by ' : ''}${row.mode}` : 'idle';
  } catch (error) {
    if (end === undefined) throw error;
    return `dies after ${end}`;
  }
}

try {
  const told = [await sync()];
  await sandbox.advance({ hours: 6, changes: 20 });
  told.push(await sync());
  await sandbox.advance({ hours: 6, changes: 20 });
  pipeline.source.mode = 'snapshot';
  told.push(await sync());
  pipeline.source.mode = 'auto';
  await sandbox.advance({ hours: 6, changes: 20 });
  told.push(await sync('committed'), await sync(), await sync());
  process.stdout.write(`${told.join(', ')}\n`);
} finally {
  await sandbox.close();
  rmSync(folder, { recursive: true });
}
