/** Runs every analysis through a client and compares its figures with those of the command line. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { listAnalyses } from '../../../src/analyze/analysis.js';
import { readVariables } from '../../../src/analyze/variables.js';
import { tellMarket } from '../../explore/explored.js';
import { openClient, readTexts, type Told, toTexts } from './open-client.js';

const story = await tellMarket();
const folder = await mkdtemp(join(tmpdir(), 'pricelake-mcp-analyses-'));
const fx = join(folder, 'rates.csv');
await writeFile(fx, 'date,currency,rate\n2026-11-01,PLN,4.3\n');
const lake = story.lakePath;
const { call, close } = await openClient(['--lake', lake, '--fx', fx]);
afterAll(async () => {
  await close();
  await story.close();
  await rm(folder, { recursive: true });
});

/** Values of variables that an analysis demands. */
const GIVEN: Record<string, string> = { product: 'acme-r1', site_id: '33', currency: 'EUR' };
const analyses = listAnalyses();
const answered = new Set<string>();

/** Returns the sorted rows, because some analyses don't define the order of equal rows, or the error's code. */
function summarize({ rows, error }: Partial<Told>): unknown {
  if (rows === undefined) return (error as { code?: string } | undefined)?.code;
  return rows.map((row) => JSON.stringify(row)).sort();
}

test.each(analyses)('run_analysis returns the same rows of %s as the command line', async (analysis) => {
  const needed = readVariables(analysis).filter(({ name, isRequired }) => isRequired && name in GIVEN);
  const variables = Object.fromEntries(needed.map(({ name }) => [name, GIVEN[name] as string]));
  const set = Object.entries(variables).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  const printed = await readTexts(['query', '--analysis', analysis, ...set, '--fx', fx, '--lake', lake, '--json']);
  const { value } = await call('run_analysis', { analysis, variables, limit: 1000 });
  const told = toTexts(value) as Told;
  expect(summarize(told)).toEqual(summarize(printed));
  if ((told.rows?.length ?? 0) > 0) answered.add(analysis);
});

test('more than a third of the analyses return rows', () => {
  expect(answered.size).toBeGreaterThan(analyses.length / 3);
});
