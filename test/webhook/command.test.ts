// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of pipeline files look like this
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start.js';
import { runHere } from '../cli/pricelake.js';
import { makeFolder } from '../lake/fixture.js';
import { buildEvent, SECRET, sign } from './delivery.js';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

let folder: string;
let secretFile: string;
beforeEach(async () => {
  folder = await makeFolder('webhook');
  secretFile = path.join(folder, 'secret');
  await writeFile(secretFile, `${SECRET}\n`);
  await writeFile(
    path.join(folder, 'prices.yaml'),
    `source: {baseUrl: "\${NOT_SET}", apiKey: "\${NOT_SET}"}\nlake: {path: ${folder}/lake}\nwebhook: {secret: {file: ${secretFile}}}\n`,
  );
});

/** Starts a receiver like a user does, and waits until it listens. */
async function serve(options: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const args = [MAIN, 'webhook', path.join(folder, 'prices.yaml'), '--port', '0', '--json', ...options];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { url } = JSON.parse(line as string) as { url: string };
  const post = async (id: string, secrets = [SECRET]) => {
    const body = buildEvent(id);
    const headers = { 'Service-Signature': sign(body, { secrets, at: new Date() }) };
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  return { child, url, post, readLog: () => stderr };
}

const countEvents = async () => (await readdir(path.join(folder, 'lake', '_pricelake', 'webhooks', 'events'))).length;

describe('pricelake webhook', () => {
  test('needs no API key, loses no event after kill -9, and stops on SIGTERM with its exit code', async () => {
    const first = await serve();
    expect(await first.post('evt_1')).toBe(204);
    first.child.kill('SIGKILL');
    await once(first.child, 'close');
    const second = await serve();
    expect([await second.post('evt_1'), await second.post('evt_2')]).toEqual([204, 204]);
    expect(await countEvents()).toBe(2);
    second.child.kill('SIGTERM');
    expect(await once(second.child, 'close')).toEqual([143, null]);
    expect(second.readLog()).toContain('"event":"webhook.repeat","event_id":"evt_1"');
    expect(second.readLog()).not.toContain(SECRET);
  });

  test('accepts a rotated secret without a restart, either by itself or on SIGHUP', async () => {
    const { child, post, readLog } = await serve();
    expect(await post('evt_1', ['whsec_next'])).toBe(401);
    await writeFile(secretFile, `whsec_next\n${SECRET}\n`);
    expect(await post('evt_1', ['whsec_next'])).toBe(204);
    const count = () => readLog().split('webhook.secrets_read').length - 1;
    const before = count();
    child.kill('SIGHUP');
    await expect.poll(count).toBe(before + 1);
    expect(await post('evt_2')).toBe(204);
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([130, null]);
  });

  test('starts a sync for events, and survives a sync that fails', async () => {
    const sandbox = await startSandbox({ items: 30, sites: 2, ratePerSecond: null, webhook: { secrets: [SECRET] } });
    try {
      const env = { NOT_SET: sandbox.baseUrl, KEY: sandbox.keys.live };
      const file = path.join(folder, 'prices.yaml');
      await writeFile(file, (await readFile(file, 'utf8')).replace('apiKey: "${NOT_SET}"', 'apiKey: "${KEY}"'));
      const { child, url, post, readLog } = await serve(['--sync', '--sync-after', '0'], env);
      await sandbox.webhook.set({ url });
      await sandbox.advance({ hours: 1, changes: 20 });
      await expect.poll(readLog, { timeout: 30_000 }).toContain('"outcome":"done","exit_code":0,"published":true');
      await expect.poll(countEvents).toBe(0);
      sandbox.changeAccount({ revoked: ['live'] });
      expect(await post('evt_1')).toBe(204);
      await expect.poll(readLog, { timeout: 30_000 }).toContain('"outcome":"failed","exit_code":4');
      expect(await post('evt_2')).toBe(204);
      child.kill('SIGTERM');
      expect(await once(child, 'close')).toEqual([143, null]);
      // The log has one JSON object per line, except for the last message of the command line.
      const lines = readLog().trimEnd().split('\n');
      expect(lines.filter((line) => !line.startsWith('{'))).toEqual(['pricelake: stopped by SIGTERM']);
      for (const secret of [SECRET, sandbox.keys.live]) expect(readLog()).not.toContain(secret);
    } finally {
      await sandbox.close();
    }
  });

  test.each([
    ['--max-age 8d', '--max-age 8d is not a duration of at most 7d'],
    ['--max-skew soon', '--max-skew soon is not a duration such as 90s'],
    ['--max-body 0', '--max-body 0 is not a number'],
    ['--path /health', '--path /health is reserved for the health check'],
    ['--path health', '--path health is not a path'],
    ['--port 70000', '--port 70000 is not a whole number (0 to 65535)'],
  ])('refuses %s', async (mistake, message) => {
    const { code, stderr } = await runHere(['webhook', ...mistake.split(' ')]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
