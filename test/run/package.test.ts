import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packagePath } from '../../src/io/package-path.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { publishLake } from '../cli/lake-fixture.js';

const run = promisify(execFile);
const ROOT = packagePath('.');
/** The environment of npm: without network or update messages, and with its own cache. */
let env: NodeJS.ProcessEnv;

let project: string;
let installed: string;

/** The tarball from `npm pack`, unpacked where `npm install` would put it, with the checkout's dependencies. */
beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), 'pricelake-package-'));
  env = {
    ...process.env,
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    npm_config_cache: path.join(project, '.npm'),
    // `prepack` would remove and build dist, while other tests run from it.
    npm_config_ignore_scripts: 'true',
  };
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', project], {
    cwd: ROOT,
    env,
  });
  const [tarball] = (JSON.parse(stdout) as { filename: string }[]).map(({ filename }) => path.join(project, filename));
  await run('tar', ['-xzf', tarball ?? '', '-C', project]);
  const modules = path.join(project, 'node_modules');
  installed = path.join(modules, 'pricelake');
  await mkdir(path.join(modules, '.bin'), { recursive: true });
  await cp(path.join(project, 'package'), installed, { recursive: true });
  await symlink(path.join(ROOT, 'node_modules'), path.join(installed, 'node_modules'));
  await symlink('../pricelake/dist/cli/main.js', path.join(modules, '.bin', 'pricelake'));
  await run('chmod', ['+x', path.join(installed, 'dist', 'cli', 'main.js')]); // as npm does for a bin
  await writeFile(path.join(project, 'package.json'), '{"name":"user","private":true}');
});
afterAll(() => rm(project, { recursive: true }));

/** Runs `npx pricelake …`, never from the registry. */
const npx = async (args: string[], cwd: string) =>
  (await run('npx', ['--no-install', 'pricelake', ...args], { cwd, env })).stdout;

/** Runs what npx starts. */
const pricelake = async (args: string[], settings: NodeJS.ProcessEnv = {}) =>
  (await run('node_modules/.bin/pricelake', args, { cwd: project, env: { ...env, ...settings } })).stdout;

describe('the package', () => {
  test('includes the MCP server and the skills', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const [command, lake] = [path.join(project, 'node_modules/.bin/pricelake'), await publishLake()];
    const { PATH = '' } = process.env;
    await client.connect(
      new StdioClientTransport({ command, args: ['mcp', '--lake', lake], env: { PATH }, stderr: 'ignore' }),
    );
    const { structuredContent } = await client.callTool({
      name: 'query',
      arguments: { sql: 'SELECT count(*) AS n FROM items' },
    });
    expect(structuredContent).toMatchObject({ rows: [{ n: '4' }] });
    await client.close();
    expect((await readdir(path.join(installed, 'skills'))).sort()).toEqual(['analyse', 'operate', 'recover']);
    expect(await readdir(path.join(installed, 'schemas/output'))).toContain('sync.json');
  });

  test('contains the built code, SQL, schemas and documents, but no tests or sources', async () => {
    const names = await readdir(installed);
    expect(names).toEqual(expect.arrayContaining(['dist', 'pipelines', 'schemas', 'package.json', 'LICENSE']));
    expect(names.filter((name) => ['src', 'test', 'bench'].includes(name))).toEqual([]);
    for (const folder of ['analysis', 'checks', 'models']) {
      const shipped = await readdir(path.join(installed, 'pipelines', folder));
      expect(shipped).toEqual(await readdir(path.join(ROOT, 'pipelines', folder)));
    }
  });

  test('runs no script when it is installed', async () => {
    const { scripts } = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8'));
    expect(Object.keys(scripts)).not.toEqual(expect.arrayContaining([expect.stringMatching(/install$|^prepare$/)]));
  });

  test("caches compiled code in its own folder, and works if the folder isn't writable", async () => {
    const compiled = path.join(installed, 'dist', 'cli', 'compiled');
    await pricelake(['--version']);
    expect((await readdir(compiled)).length).toBeGreaterThan(0);
    await rm(compiled, { recursive: true, force: true });
    await writeFile(compiled, 'no folder');
    expect(await pricelake(['--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
    await rm(compiled, { recursive: true }); // Node 20 puts a folder in its place
  });

  test('prints its version and help from where it is installed', async () => {
    const [version, help] = await Promise.all([npx(['--version'], project), pricelake(['check', '--help'])]);
    expect(version).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(help).toContain('Find bad data in the tables');
  });

  test('can be run with npx in the checkout, which leaves the built code unchanged', async () => {
    const { ino } = await stat(path.join(ROOT, 'dist'));
    expect(await npx(['--version'], ROOT)).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await stat(path.join(ROOT, 'dist'))).ino).toBe(ino);
  });

  test('prints after the demo how to start it again, with its name only if that runs this installation', async () => {
    const next = async (demo: Promise<string>) => /^Next:\n {2}(.*) spread /mu.exec(await demo)?.[1];
    const demo = ['demo', '--items', '60'];
    expect(await next(npx(demo, project))).toBe('node node_modules/pricelake/dist/cli/main.js');
    const bin = path.join(project, 'bin');
    await mkdir(bin);
    const PATH = `${bin}:${process.env.PATH}`;
    await writeFile(path.join(bin, 'pricelake'), '#!/bin/sh\n# of somebody else\n');
    expect(await next(pricelake(demo, { PATH }))).toBe('node node_modules/pricelake/dist/cli/main.js');
    await rm(path.join(bin, 'pricelake'));
    await symlink('../node_modules/pricelake/dist/cli/main.js', path.join(bin, 'pricelake'));
    expect(await next(pricelake(demo, { PATH }))).toBe('pricelake');
  });

  test('syncs and compares prices from where it is installed', async () => {
    const sandbox = await startSandbox({ items: 100, ratePerSecond: null });
    try {
      const settings = { PRICELAKE_BASE_URL: sandbox.baseUrl, PRICELAKE_API_KEY: sandbox.keys.live };
      const pipeline = path.join('node_modules', 'pricelake', 'pipelines', 'prices.yaml');
      const report = JSON.parse(await pricelake(['sync', pipeline, '--json'], settings)) as Record<string, unknown>;
      expect(report).toMatchObject({ ok: true, published: true, items: 100 });
      const spread = JSON.parse(await pricelake(['spread', '--json'])) as Record<string, unknown>;
      expect(spread).toMatchObject({ ok: true });
    } finally {
      await sandbox.close();
    }
  });
});
