// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of pipeline files look like this
/** `query --engine spark`: a stand-in for Spark makes the rows, and they come out as those of this machine do. */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStory, type Story } from '../front/story.js';
import { type Outcome, readJsonLine, runHere, runPricelake } from './pricelake.js';

const STUB = fileURLToPath(new URL('./ask-stub.mjs', import.meta.url));

let story: Story;
let folder: string;
let places = 0;
beforeAll(async () => {
  story = await openStory();
  story.pipeline.lake.retention = 86_400_000;
  story.at('10 08:00');
  const pen = story.add({ brand: 'Acme', mpn: 'P-1', siteId: 11n, price: 1_000 });
  story.add({ brand: 'Acme', mpn: 'P-1', siteId: 22n, price: 1_200 });
  story.add({ brand: 'Acme', mpn: 'P-1', siteId: 33n, price: 1_150 });
  await story.run();
  story.at('11 08:00');
  story.change(pen, { price: 900 });
  await story.run();
  folder = dirname(story.lakePath);
});
afterAll(() => story.close());

/** A folder with a pipeline file that names the stand-in, and the notes of that. */
async function open(...options: string[]) {
  const cwd = join(folder, `asked-${++places}`);
  const notes = join(cwd, 'notes');
  await mkdir(cwd);
  const submit = [process.execPath, STUB, '--note', notes, ...options];
  const source = 'source:\n  baseUrl: http://127.0.0.1:1\n  apiKey: ${PRICELAKE_API_KEY}\n';
  const text = `${source}lake:\n  path: ${story.lakePath}\nengine: ${JSON.stringify({ spark: { submit } })}\n`;
  await writeFile(join(cwd, 'prices.yaml'), text);
  const readNotes = async () => JSON.parse((await readFile(notes, 'utf8')).trim());
  return { cwd, notes, readNotes };
}

const SPARK = ['--engine', 'spark'];
const leftovers = () => readdirSync(join(story.lakePath, '_pricelake', 'answers'));

describe('the rows of a cluster', () => {
  test.each(['csv', 'ndjson', 'table'])('are written as %s like those of this machine', async (format) => {
    const { cwd } = await open();
    const args = ['query', '--analysis', 'dispersion', '--set', 'min_shops=2', '--format', format];
    const here = await runHere(args, { cwd });
    const there = await runHere([...args, ...SPARK], { cwd });
    expect(here.stdout).toContain('EUR');
    expect([there.code, there.stdout]).toEqual([0, here.stdout]);
    expect(leftovers()).toEqual([]);
  });

  test('have the same types and credits, and their source names Spark', async () => {
    const { cwd } = await open();
    const read = async (...more: string[]) => {
      const file = join(cwd, `rows-${more.length}.arrows`);
      const args = ['query', '--analysis', 'spread_summary', '--format', 'arrow', '--output', file, '--json', ...more];
      const outcome = await runHere(args, { cwd });
      const table = tableFromIPC(await readFile(file));
      const { source, ...metadata } = Object.fromEntries(table.schema.metadata);
      return { facts: readJsonLine(outcome), table, metadata, source: JSON.parse(String(source)) };
    };
    const [here, there] = [await read(), await read(...SPARK)];
    expect(here.table.numRows).toBeGreaterThan(0);
    expect(String(there.table.schema)).toBe(String(here.table.schema));
    expect(there.table.toString()).toBe(here.table.toString());
    expect(there.metadata).toEqual(here.metadata);
    expect(there.facts.attribution).toEqual(['CC BY 4.0']);
    expect(there.source).toEqual({ ...here.source, spark: '3.5.9' });
  });

  test('are of the versions of a run with --as-of, and of no other table than it reads', async () => {
    const { cwd, readNotes } = await open();
    await runHere(['query', '--analysis', 'spread_summary', '--as-of', '1', ...SPARK, '--json'], { cwd });
    const { options } = await readNotes();
    const source = JSON.parse(
      (await runHere(['query', '--analysis', 'spread_summary', '--as-of', '1', '--explain-source', '--json'], { cwd }))
        .stdout,
    ).source;
    const versions = Object.entries(source.versions).map(([table, version]) => `${table}=${version}`);
    expect(options.versions.split(',').sort()).toEqual(versions.sort());
    expect(options).toMatchObject({ lake: `file://${story.lakePath}`, tables: 'spread_summary' });
  });
});

test('variables reach the cluster in a file, and only after they are checked', async () => {
  const { cwd, notes, readNotes } = await open();
  const wrong = await runHere(['query', '--analysis', 'dispersion', '--set', 'currency=EUX', ...SPARK], { cwd });
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('the lake has no such currency')]);
  const unknown = await runHere(['query', '--analysis', 'dispersion', '--set', 'stop=3', ...SPARK], { cwd });
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('reads no variable stop')]);
  expect(existsSync(notes)).toBe(false);
  const args = ['query', '--analysis', 'dispersion', '--set', 'currency=EUR', '--set', 'top=3', ...SPARK, '--json'];
  const { code } = await runHere(args, { cwd });
  const { options, words } = await readNotes();
  expect(code).toBe(0);
  expect(options.set.sort()).toEqual(['currency=EUR', 'top=3']);
  expect(words.join(' ')).not.toContain('EUR');
});

test('the key of the service stays here, in whatever variable it is', async () => {
  const { cwd, readNotes } = await open();
  const env = { PRICELAKE_API_KEY: 'pk_live_secret', SPARK_SECRET: 'has pk_live_secret in it', OTHER: 'x' };
  await runHere(['query', '--analysis', 'spread_summary', ...SPARK, '--json'], { cwd, env });
  const { environment } = await readNotes();
  expect(JSON.stringify(environment)).not.toContain('pk_live_secret');
  expect(environment.OTHER).toBeUndefined();
});

test.each([
  [['--analysis', 'find_products', ...SPARK], 'find_products has no query for Spark: '],
  [['SELECT 1', ...SPARK], '--engine needs --analysis'],
  [['--analysis', 'dispersion', '--explain-source', ...SPARK], "can't be used together"],
])('%j is refused', async (args, message) => {
  const { cwd, notes } = await open();
  const { code, stderr } = await runHere(['query', ...args], { cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(stderr).not.toContain('undefined');
  expect(existsSync(notes)).toBe(false);
});

test.each([
  ['fails', 'fail', /no space left on the moon/u],
  ['has its driver elsewhere', 'elsewhere', /no answer on this machine[\s\S]*client mode/u],
])('a cluster that %s ends the query with 75, and nothing is left', async (_, play, message) => {
  const { cwd } = await open('--play', play);
  const { code, stderr, stdout } = await runHere(['query', '--analysis', 'spread_summary', ...SPARK], { cwd });
  expect([code, stderr, stdout]).toEqual([75, expect.stringMatching(message), '']);
  expect(stderr).not.toContain('landed');
  expect(leftovers()).toEqual([]);
});

test('a signal ends the program, and nothing is left', async () => {
  const { cwd, notes, readNotes } = await open('--play', 'hang');
  const stop = async (kill: () => void) => {
    while (!existsSync(notes) || leftovers().length === 0) await wait(50);
    await wait(200);
    kill();
  };
  const outcome: Outcome = await runPricelake(['query', '--analysis', 'spread_summary', ...SPARK], {
    cwd,
    act: (child) => void stop(() => child.kill('SIGTERM')),
  });
  expect(outcome.code).toBe(143);
  const { pid } = await readNotes();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(leftovers()).toEqual([]);
});

test('a query that is too large for this machine says where it can run', async () => {
  const { cwd } = await open();
  const args = ['query', '--analysis', 'price_index', '--memory', '8MB'];
  const { code, stderr } = await runHere(args, { cwd });
  expect(code).toBe(2);
  expect(stderr.replaceAll(/\s+/gu, ' ')).toContain('pricelake query --engine spark --analysis price_index');
});
