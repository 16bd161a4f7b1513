import { constants } from 'node:fs';
import { access, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { PricelakeError } from '../../errors/errors.js';
import { syncFolder } from '../../io/durable.js';
import { openLake } from '../../lake/lake.js';
import type { RunObserver, WatchedPipeline } from '../watch/watch-run.js';
import { writePrometheusText } from './prometheus-text.js';
import { describeMetrics, type LakeFacts, readLakeFacts } from './run-metrics.js';

/**
 * Writes the metrics of each run to a file of the node exporter's textfile collector.
 * @throws PricelakeError `usage` where the folder of the file can't be written
 */
export async function openMetricsFile(file: string): Promise<RunObserver> {
  try {
    await access(dirname(file), constants.W_OK);
  } catch (cause) {
    throw new PricelakeError('usage', `--metrics ${file}: its folder can't be written`, {}, { cause });
  }
  return {
    end: async (run) => {
      const { pipeline } = run;
      // A lake that can't be read has no figures, and the run has said why.
      const lake = pipeline === undefined ? undefined : await readFacts(pipeline).catch(() => undefined);
      await replaceFile(file, writePrometheusText(describeMetrics(run, lake), { pipeline: pipeline?.name ?? '' }));
    },
  };
}

async function readFacts({ lakePath, budget }: WatchedPipeline): Promise<LakeFacts> {
  return readLakeFacts(await openLake(lakePath, { create: false }), budget);
}

/** Readers see the old file or the new one; the name beside it is none that the collector reads. */
async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
  try {
    const handle = await open(temporary, 'w', 0o644);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(file));
}
