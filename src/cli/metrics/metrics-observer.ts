import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { PricelakeError } from '../../errors/errors.js';
import { replaceFile } from '../../io/durable.js';
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
      const text = writePrometheusText(describeMetrics(run, lake), { pipeline: pipeline?.name ?? '' });
      await replaceFile(file, text, nameBeside(file));
    },
  };
}

async function readFacts({ lakePath, budget }: WatchedPipeline): Promise<LakeFacts> {
  return readLakeFacts(await openLake(lakePath, { create: false }), budget);
}

/** A name that the collector does not read. */
const nameBeside = (file: string) => join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
