import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCompact } from '../../src/cli/actions/run-compact.js';
import { runQuery } from '../../src/cli/actions/run-query.js';
import { runRebuild } from '../../src/cli/actions/run-rebuild.js';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { showStatus } from '../../src/cli/actions/show-status.js';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import type { TableName } from '../../src/tables/table.js';
import { estimateWithWings } from '../../src/wings/index.js';
import { openContext } from '../cli/open-context.js';
import { reseal } from '../lake/log-writer.js';
import { openWorld, readItems, readTruth, testIo } from './world.js';

/** A lake after two runs. The service hasn't changed since. */
let original: string;
let expected: Map<string, string[]>;
let pipelineFile: string;

const world = await openWorld({ items: 40, sites: 2 });
beforeAll(async () => {
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 10 });
  await world.sync();
  process.env.PRICELAKE_API_KEY = 'sandbox_live_key';
  pipelineFile = path.join(world.folder, 'prices.yaml');
  const source = `source: { baseUrl: ${world.sandbox.baseUrl}, apiKey: "\${PRICELAKE_API_KEY}" }`;
  await writeFile(pipelineFile, `name: test\n${source}\nlake: { path: ./lake }\n`);
  original = world.lakePath;
  expected = await readItems(original);
});
afterAll(async () => {
  delete process.env.PRICELAKE_API_KEY;
  await world.close();
});
beforeEach(() => world.renew(original));

type Action = (context: ReturnType<typeof openContext>) => Promise<unknown>;

/** The output of a command. */
async function run(action: Action): Promise<string> {
  const context = openContext();
  await action(context);
  return context.output.text;
}

const query = (sql = 'SELECT count(*) AS n FROM runs') =>
  run((context) => runQuery({ sql, lake: world.lakePath, memory: '1GB', format: 'ndjson' }, context));
const verify = () => run((context) => runVerify({ lake: world.lakePath }, context));
/** With the pipeline file, because tables in another format can't provide its settings. */
const rebuild = () => run((context) => runRebuild({ pipeline: pipelineFile, lake: world.lakePath }, context));
const WRITERS: [string, () => Promise<unknown>][] = [
  ['sync', () => world.sync()],
  ['plan', () => estimateWithWings(world.pipeline, testIo)],
  ['compact', () => run((context) => runCompact({ lake: world.lakePath }, context))],
];
const READERS: [string, () => Promise<unknown>][] = [
  ['query', () => query()],
  ['status', () => run((context) => showStatus({ lake: world.lakePath }, context))],
];

const inLake = (...names: string[]) => path.join(world.lakePath, ...names);
const readFiles = () => readdir(world.lakePath, { recursive: true });

/** Each command exits with 2, names the difference and `rebuild`, makes no request and changes nothing. */
async function expectRefused(commands: [string, () => Promise<unknown>][], message: RegExp): Promise<void> {
  const before = await readFiles();
  for (const [name, work] of commands) {
    const error = await work().then(
      () => expect.unreachable(`${name} should have failed`),
      (error: unknown) => error,
    );
    expect([name, error, exitCodeOf(error)]).toMatchObject([
      name,
      {
        code: 'lake_invalid',
        message: expect.stringMatching(message),
        facts: { hint: expect.stringContaining('pricelake lake rebuild') },
      },
      2,
    ]);
  }
  expect(world.requests).toEqual([]);
  expect(await readFiles()).toEqual(before);
}

/** A rebuild recreates the lake without a call, and runs continue afterwards. */
async function expectRebuilt(): Promise<void> {
  const written = await rebuild();
  expect(world.requests).toEqual([]);
  expect(await readItems(world.lakePath)).toEqual(expected);
  await verify();
  expect(written).not.toMatch(/is lost|are lost/);
  await world.sync();
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
}

describe('a lake with another format number', () => {
  const mark = (version: number) =>
    writeFile(inLake('_pricelake', 'format.json'), `{"format":"pricelake","version":${version}}\n`);

  test.each([1, 4])(
    'format %j is refused by every command except rebuild, which recreates the lake',
    async (version) => {
      await mark(version);
      const message = new RegExp(
        `format.json: the lake has format ${version}, but this version of pricelake reads format 3$`,
      );
      await expectRefused([...WRITERS, ...READERS, ['verify', verify]], message);
      await expectRebuilt();
    },
  );

  test("isn't rebuilt without the pipeline file, because its settings would be lost", async () => {
    await mark(4);
    const alone = run((context) => runRebuild({ lake: world.lakePath }, context));
    await expect(alone).rejects.toThrow(
      'offer_rules: settings from the pipeline file are lost, unless you pass that file to rebuild',
    );
    await expectRebuilt();
  });

  test('is rebuilt from its landed bytes alone, in whatever state its tables are', async () => {
    await mark(1);
    for (const table of ['items', 'runs']) {
      const log = inLake(table, '_delta_log');
      for (const name of await readdir(log)) await writeFile(path.join(log, name), 'another format');
    }
    await writeFile(inLake('lake.json'), '{"version":0}');
    const written = await rebuild();
    expect(written).toContain('the lake has format 1');
    expect(await readItems(world.lakePath)).toEqual(expected);
    await world.sandbox.advance({ hours: 1, changes: 5 });
    expect((await world.sync()).row.mode).toBe('feed');
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  });
});

interface Field {
  name: string;
  type: unknown;
  nullable: boolean;
}

/** Changes a table's columns in its log, as a program with another schema would have written it. */
async function editColumns(table: TableName, edit: (fields: Field[]) => Field[]): Promise<void> {
  const log = inLake(table, '_delta_log', '00000000000000000000.json');
  const lines = (await readFile(log, 'utf8')).split('\n').map((line) => {
    if (!line.startsWith('{"metaData"')) return line;
    const action = JSON.parse(line) as { metaData: { schemaString: string } };
    const { type, fields } = JSON.parse(action.metaData.schemaString) as { type: string; fields: Field[] };
    action.metaData.schemaString = JSON.stringify({ type, fields: edit(fields) });
    return JSON.stringify(action);
  });
  await writeFile(log, reseal(lines.join('\n')));
}

describe('a table whose columns differ from its schema', () => {
  test('because a column is missing is refused, and a rebuild repairs it', async () => {
    await editColumns('items', (fields) => fields.filter(({ name }) => name !== 'gone_at'));
    await expectRefused([...WRITERS, ...READERS], /items: it lacks column gone_at, which schemas\/items.yaml/);
    await expect(verify()).rejects.toMatchObject({ message: expect.stringContaining('logs (1)') });
    await expectRebuilt();
  });

  test('because check_results lacks a column is refused by writers, and a rebuild keeps its rows', async () => {
    const count = () => query('SELECT count(*) AS n, count(let_through) AS told FROM check_results');
    const before = await count();
    await editColumns('check_results', (fields) => fields.filter(({ name }) => name !== 'let_through'));
    await expectRefused(WRITERS, /check_results: it lacks column let_through/);
    await rebuild();
    expect(before).not.toContain('"n":0,');
    expect(await count()).toBe(before);
  });

  test('because a column has another type is refused, and a rebuild repairs it', async () => {
    await editColumns('items', (fields) =>
      fields.map((field) => (field.name === 'source_id' ? { ...field, type: 'string' } : field)),
    );
    await expectRefused(
      [...WRITERS, ...READERS],
      /items: column source_id is string, but schemas\/items.yaml .* requires long$/,
    );
    await expectRebuilt();
  });

  test('because it has an unknown column is refused by writers, but can be read', async () => {
    await editColumns('runs', (fields) => [...fields, { name: 'mood', type: 'string', nullable: true }]);
    await expectRefused(WRITERS, /runs: .*column mood.*schemas\/runs.yaml.*/);
    expect(await query()).toBe('{"n":2}\n');
    await rebuild();
    expect(await query()).toBe('{"n":2}\n');
    await verify();
  });
});

test('an unknown table in lake.json is refused and not dropped', async () => {
  const pointer = inLake('lake.json');
  await writeFile(pointer, (await readFile(pointer, 'utf8')).replace('"items": {', '"forecasts": {'));
  await expectRefused(WRITERS, /lake.json: the file is damaged or has another format$/);
  await expectRebuilt();
});
