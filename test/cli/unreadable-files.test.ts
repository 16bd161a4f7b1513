import { execFile } from 'node:child_process';
import { chmod, readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorld } from '../run/world.js';

const MAIN = path.resolve('dist/cli/main.js');
const world = await openWorld({ items: 20, sites: 1, pastDays: 2 });
let file: string;
beforeAll(async () => {
  await world.sync();
  const items = path.join(world.lakePath, 'items');
  const name = (await readdir(items, { recursive: true })).find((one) => one.endsWith('.parquet'));
  file = path.join(items, name ?? expect.unreachable('no file of items'));
  for (const folder of [path.dirname(world.folder), world.folder]) await chmod(folder, 0o755);
  await chmod(file, 0o600);
});
afterAll(() => world.close());

/** Runs a command as a user who may read the lake but not that file. */
async function runAsOther(...args: string[]): Promise<{ code: number; stderr: string }> {
  const options = { uid: 65534, gid: 65534, cwd: '/', env: { PATH: process.env.PATH, HOME: '/nonexistent' } };
  const run = promisify(execFile)(process.execPath, [MAIN, ...args], options);
  return run.then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }) => ({ code, stderr }),
  );
}

describe.runIf(process.getuid?.() === 0)('a data file without read permission', () => {
  test.each([
    [['query', 'SELECT count(DISTINCT title) FROM items']],
    [['query', 'SELECT min(price) FROM items', '--format', 'csv']],
  ])('is reported as such, and not as replaced by a run: %j', async (args) => {
    const { code, stderr } = await runAsOther(...args, '--lake', world.lakePath);
    expect(stderr).toContain(`${file}: this user has no permission to read it`);
    expect(stderr).toContain('Run as the user that owns the lake.');
    expect(stderr).not.toContain('Run the command again');
    expect(code).toBe(2);
  });
});
