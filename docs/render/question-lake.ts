/**
 * The lake that docs/analyst/questions.md uses. The sandbox's seed, its clock and the runs' clock are fixed, so every
 * machine gets the same lake.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipelineSchema } from '../../src/config/pipeline-schema.js';
import { realIo } from '../../src/io/real-io.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { syncWithWings } from '../../src/wings/index.js';

const START = Date.parse('2026-11-20T06:00:00Z');
const HOURS = 48;

export interface QuestionLake {
  /** The folder that contains `lake/`. */
  folder: string;
  close(): Promise<void>;
}

/**
 * Copies 2,000 listings with their history, advances the sandbox by two days, in which a license text changes, and
 * syncs again.
 */
export async function makeQuestionLake(): Promise<QuestionLake> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-questions-'));
  let hours = 0;
  const sandbox = await startSandbox({
    seed: 1,
    items: 2000,
    startAt: new Date(START),
    ratePerSecond: null,
    wrap: (next) => async (request) => (hours === 0 ? next(request) : changeLicense(await next(request))),
  });
  const io = { ...realIo, now: () => new Date(START + hours * 3_600_000 + 60_000), sleep: async () => {} };
  const pipeline = pipelineSchema.parse({
    name: 'prices',
    source: { baseUrl: sandbox.baseUrl, apiKey: 'key' },
    lake: { path: path.join(folder, 'lake') },
    proof: { sample: 0, products: false },
  });
  const sync = () =>
    syncWithWings({ ...pipeline, file: 'prices.yaml', source: { ...pipeline.source, apiKey: sandbox.keys.live } }, io);
  try {
    await sync();
    await sandbox.advance({ hours: HOURS });
    hours = HOURS;
    await sync();
  } finally {
    await sandbox.close();
  }
  return { folder, close: () => rm(folder, { recursive: true }) };
}

/** Changes a shop's license text in a response, because the sandbox's shops keep theirs. */
async function changeLicense(answer: Response): Promise<Response> {
  const text = await answer.text();
  const { status, headers } = answer;
  headers.delete('content-length');
  return new Response(text.replaceAll('(CC BY 4.0)', '(CC BY 4.0), changed prices marked'), { status, headers });
}
