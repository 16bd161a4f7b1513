import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { parseRemoteUrl, type RemoteUrl } from '../../src/formats/remote-url.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { takeLease } from '../../src/wings/remote/lease.js';
import { openS3Store } from '../../src/wings/remote/s3-store.js';
import { makeIo } from '../remote/quiet-io.js';
import { SECRET, startS3, withCredentials } from '../remote/s3-server.js';
import { readJsonLine, runHere } from './pricelake.js';

const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-doctor-'));
const sandbox = await startSandbox({ items: 20, sites: 2, clock: 'real', startAt: new Date() });
afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

/** Runs doctor on a pipeline with this key and these lake settings, and returns its findings by name. */
async function diagnose(apiKey: string, lake = 'path: ./lake', baseUrl = sandbox.baseUrl) {
  const source = `source: { baseUrl: "${baseUrl}", apiKey: "\${KEY}" }`;
  await writeFile(path.join(folder, 'prices.yaml'), `${source}\nlake: { ${lake} }\n`);
  const outcome = await runHere(['doctor', '--json'], { cwd: folder, env: { KEY: apiKey } });
  expect(outcome.stdout + outcome.stderr).not.toContain(apiKey);
  const json = readJsonLine(outcome) as { findings?: Found[]; error?: { facts: { findings: Found[] } } };
  const findings = json.findings ?? json.error?.facts.findings ?? [];
  return { code: outcome.code, states: Object.fromEntries(findings.map((one) => [one.name, one.state])), findings };
}

interface Found {
  name: string;
  state: string;
  found: string;
  next?: string;
}

test('a working setup exits with 0 and leaves no files behind', async () => {
  const { code, states, findings } = await diagnose(sandbox.keys.live);
  const ok = { node: 'ok', pipeline: 'ok', 'file system': 'ok', service: 'ok', plan: 'ok', lake: 'ok' };
  expect({ code, states }).toMatchObject({ code: 0, states: ok });
  expect(findings.find(({ name }) => name === 'disk')?.found).toMatch(
    /^\d+\.\d GB free for \S+; a copy of 1,000,000 items takes about 3\.0 GB, a million changes about 4\.0 GB$/u,
  );
  expect(await readdir(folder)).toEqual(['prices.yaml']);
});

test('a clock that differs from the service’s by more than a minute is a warning with its consequences', async () => {
  expect((await diagnose(sandbox.keys.live)).states.clock).toBe('ok');
  const behind = await startSandbox({ items: 20, sites: 2, startAt: new Date(Date.now() - 2 * 3_600_000) });
  onTestFinished(behind.close);
  const { code, findings } = await diagnose(behind.keys.live, undefined, behind.baseUrl);
  const clock = findings.find(({ name }) => name === 'clock');
  expect({ code, ...clock }).toMatchObject({ code: 0, state: 'warn', next: expect.stringContaining('webhooks') });
});

test("a refused key and a folder that isn't a lake are reported with a next step, and the exit code is 3", async () => {
  await mkdir(path.join(folder, 'other'));
  await writeFile(path.join(folder, 'other', 'mine.txt'), '');
  const { code, states, findings } = await diagnose('pk_wrong', 'path: ./other');
  expect({ code, states }).toMatchObject({
    code: 3,
    states: { service: 'failed', lake: 'failed', disk: expect.anything() },
  });
  expect(findings.find(({ name }) => name === 'service')?.next).toContain('source.apiKey');
});

test('a remote is reported with the run that holds it, and a missing bucket exits with 3', async () => {
  const s3 = await startS3();
  onTestFinished(s3.close);
  onTestFinished(withCredentials());
  const look = async (bucket: string) => {
    const remote = `s3://${bucket}/prices?endpoint=${s3.endpoint}`;
    const { code, findings } = await diagnose(sandbox.keys.live, `path: ./lake, remote: "${remote}"`);
    expect(JSON.stringify(findings)).not.toContain(SECRET);
    return { code, remote, ...findings.find(({ name }) => name === 'remote') };
  };
  const free = await look('bucket');
  expect(free).toMatchObject({ code: 0, state: 'ok', found: `${free.remote} responds` });

  const store = await openS3Store(parseRemoteUrl(free.remote) as RemoteUrl, makeIo());
  onTestFinished(() => store.close());
  const lease = await takeLease(store, { url: free.remote, copy: 'another folder', generation: 0 }, makeIo());
  expect((await look('bucket')).found).toBe(`${free.remote} responds; a run on ${hostname()} holds it`);
  for (const object of s3.objects.values()) object.writtenAt = new Date(Date.now() - 120_000);
  expect((await look('bucket')).found).toMatch(/; a run on \S+ died while holding it$/u);
  await lease.release();

  expect(await look('other')).toMatchObject({ code: 3, state: 'failed', next: expect.stringMatching(/bucket/u) });
});

test('without a pipeline file, doctor reports that and checks everything else', async () => {
  const { code, stdout } = await runHere(['doctor'], { cwd: path.join(folder, 'other') });
  expect(code).toBe(3);
  expect(stdout).toMatch(/^ok +node /mu);
  expect(stdout).toMatch(/^FAILED +pipeline +no pipeline file/mu);
  expect(stdout).toContain('pipeline → Create one with `pricelake init`');
});
