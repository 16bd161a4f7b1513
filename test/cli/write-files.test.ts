import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { writeManifest } from '../../src/cli/actions/write-manifest.js';
import { writePipeline } from '../../src/cli/actions/write-pipeline.js';
import { toJsonText } from '../../src/cli/json-text.js';
import { readPipeline } from '../../src/config/pipeline-file.js';
import { PricelakeError } from '../../src/io/errors.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { CREDIT, publishLake } from './lake-fixture.js';
import { act, openContext } from './open-context.js';

const sandbox = await startSandbox({ items: 20, sites: 2 });
const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-files-'));
const lake = await publishLake();
afterAll(async () => {
  await sandbox.close();
  for (const path of [folder, lake]) await rm(path, { recursive: true });
});

describe('init', () => {
  const env = { PRICELAKE_BASE_URL: 'https://api.example', PRICELAKE_API_KEY: 'key' };

  test('writes a valid pipeline file with every option explained, and the next command', async () => {
    const file = path.join(folder, 'prices.yaml');
    const { text } = await act(writePipeline, { file });
    expect(await readPipeline(file, env)).toMatchObject({ name: 'prices', lake: { path: './lake' } });
    expect((await readFile(file, 'utf8')).split('\n')[0]).toBe(`# A pipeline of pricelake: pricelake sync ${file}`);
    expect(text).toContain(`pricelake sync ${file}`);
  });

  test.each(['/data/lake', './a b: #"\'$& \\ü'])("accepts %j as the lake's folder", async (lakePath) => {
    const file = path.join(folder, `${lakePath.length}.yaml`);
    await writePipeline({ file, lake: lakePath }, openContext());
    expect(await readPipeline(file, env)).toMatchObject({ lake: { path: lakePath } });
  });

  test('overwrites nothing, and reports the existing file', async () => {
    const file = path.join(folder, 'mine.yaml');
    await writeFile(file, 'mine');
    const write = (name: string) => writePipeline({ file: name }, openContext());
    await expect(write(file)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('already') });
    expect(await readFile(file, 'utf8')).toBe('mine');
    await expect(write(path.join(folder, 'none', 'x.yaml'))).rejects.toThrow("its folder doesn't exist");
  });
});

describe('init on a terminal', () => {
  const init = async (name: string, env: NodeJS.ProcessEnv, ...answers: string[]) => {
    const place = { folder: path.join(folder, name), env };
    await mkdir(place.folder, { recursive: true });
    const context = { ...openContext(), prompter: async () => answers.shift() ?? '' };
    await writePipeline({ file: path.join(place.folder, 'prices.yaml') }, context, place);
    return { text: context.output.text, kept: () => readFile(path.join(place.folder, '.env'), 'utf8') };
  };

  test('asks for the address and the key until the service accepts them, and keeps them in a private file', async () => {
    const { baseUrl, keys } = sandbox;
    const answers = ['http://127.0.0.1:1', `${baseUrl}/wrong`, `${baseUrl}/api/v1/`, 'pk_wrong', keys.live];
    const { text, kept } = await init('asked', {}, ...answers);
    expect(text).toContain("can't reach 127.0.0.1:1");
    expect(text).toContain('returned 404: No such endpoint: GET /wrong/api/v1/plan');
    expect(text).toContain('pricelake: GET /api/v1/plan returned 401');
    expect(text).toContain('The key works: plan Pro.\n');
    expect(text).not.toMatch(new RegExp(`pk_wrong|${keys.live}|export PRICELAKE`));
    expect(await kept()).toBe(`PRICELAKE_BASE_URL=${baseUrl}\nPRICELAKE_API_KEY=${keys.live}\n`);
    expect((await stat(path.join(folder, 'asked', '.env'))).mode & 0o777).toBe(0o600);
  });

  test('writes no .env if nothing is entered or all variables are set', async () => {
    const { baseUrl: PRICELAKE_BASE_URL, keys } = sandbox;
    const silent = await init('silent', {});
    expect(silent.text).toContain('export PRICELAKE_BASE_URL=');
    const set = await init('set', { PRICELAKE_BASE_URL, PRICELAKE_API_KEY: keys.live });
    expect(set.text).toContain('The key works');
    for (const { kept } of [silent, set]) await expect(kept()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('writes nothing if the user quits at a question, so that the same command asks again', async () => {
    const place = { folder, env: {} };
    const file = path.join(folder, 'left.yaml');
    const leave = async () => {
      throw new PricelakeError('stopped', 'stopped');
    };
    const leaving = writePipeline({ file }, { ...openContext(), prompter: leave }, place);
    await expect(leaving).rejects.toMatchObject({ code: 'stopped' });
    await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('keeps a different value in an existing .env', async () => {
    await mkdir(path.join(folder, 'other'));
    await writeFile(path.join(folder, 'other', '.env'), 'PRICELAKE_API_KEY=mine');
    const { text, kept } = await init('other', {}, sandbox.baseUrl, sandbox.keys.live);
    expect(text).toContain('.env already sets a different PRICELAKE_API_KEY. Change it there.');
    expect(await kept()).toBe('PRICELAKE_API_KEY=mine');
  });
});

describe('manifest', () => {
  const write = (request: Partial<Parameters<typeof writeManifest>[0]>) =>
    act(writeManifest, { table: 'items', lake, format: 'json', ...request });

  test('lists exactly the files of the version, with rows, bytes, checksums, partitions and credits', async () => {
    const { text, report } = await write({});
    const manifest = JSON.parse(text) as Record<string, unknown>;
    expect(manifest).toMatchObject({ table: 'items', version: 0, rows: 4 });
    const files = manifest.files as { url: string; rows: number; bytes: number; sha256: string; partition: object }[];
    const onDisk = (await readdir(path.join(lake, 'items'), { recursive: true })).filter((name) =>
      /^site.*parquet$/.test(name),
    );
    expect(files.map(({ url }) => url).sort()).toEqual(onDisk.map((name) => path.join(lake, 'items', name)).sort());
    expect(files.reduce((sum, { rows }) => sum + rows, 0)).toBe(4);
    expect(files[0]).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), partition: { site_id: '1' } });
    expect(manifest.attribution).toEqual([expect.objectContaining({ site_id: 2, attribution: CREDIT })]);
    expect(JSON.parse(toJsonText(report))).toMatchObject({ rows: 4, format: 'json' });
  });

  test('as a Redshift manifest contains the length that Parquet needs, with the credits on stderr', async () => {
    const { text, stderr } = await write({ format: 'redshift', base: 's3://bucket/lake/' });
    const { entries } = JSON.parse(text) as {
      entries: { url: string; mandatory: boolean; meta: { content_length: number } }[];
    };
    expect(entries).toHaveLength(3);
    for (const entry of entries) {
      expect(entry).toMatchObject({ mandatory: true, meta: { content_length: expect.any(Number) } });
      expect(entry.url).toMatch(/^s3:\/\/bucket\/lake\/items\/site_id-\d+\.[\w-]+\.parquet$/);
    }
    expect(stderr).toContain(CREDIT);
    await expect(write({ format: 'redshift' })).rejects.toMatchObject({ code: 'usage' });
  });

  test('as a list can be written to a file, and is empty for a table without files', async () => {
    const file = path.join(folder, 'list.txt');
    const { text } = await write({ format: 'list', output: file });
    expect(text).toBe('');
    expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toHaveLength(3);
    expect((await write({ table: 'rejects', format: 'list' })).text).toBe('');
    await expect(write({ lake: folder })).rejects.toMatchObject({ code: 'lake_invalid' });
  });
});
