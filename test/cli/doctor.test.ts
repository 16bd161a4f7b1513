import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/start.js';
import { readJsonLine, runHere } from './pricelake.js';

let folder: string;
let sandbox: Sandbox;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pricelake-doctor-'));
  sandbox = await startSandbox({ items: 20, sites: 2, clock: 'real' });
});
afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

/** What doctor says of a pipeline with this key and lake, by the name of the look. */
async function diagnose(apiKey: string, lake = './lake') {
  const source = `source: { baseUrl: "${sandbox.baseUrl}", apiKey: "\${KEY}" }`;
  await writeFile(path.join(folder, 'prices.yaml'), `${source}\nlake: { path: ${lake} }\n`);
  const outcome = await runHere(['doctor', '--json'], { cwd: folder, env: { KEY: apiKey } });
  expect(outcome.stdout + outcome.stderr).not.toContain(apiKey);
  const json = readJsonLine(outcome) as { findings?: Found[]; error?: { facts: { findings: Found[] } } };
  const findings = json.findings ?? json.error?.facts.findings ?? [];
  return { code: outcome.code, states: Object.fromEntries(findings.map((one) => [one.name, one.state])), findings };
}

interface Found {
  name: string;
  state: string;
  next?: string;
}

test('everything is in order: exit 0, and nothing is left behind', async () => {
  const { code, states } = await diagnose(sandbox.keys.live);
  const ok = { node: 'ok', pipeline: 'ok', 'file system': 'ok', service: 'ok', plan: 'ok', lake: 'ok' };
  expect({ code, states }).toMatchObject({ code: 0, states: ok });
  expect(await readdir(folder)).toEqual(['prices.yaml']);
});

test('a key that is refused and a folder that is no lake are named, each with the next step: exit 3', async () => {
  await mkdir(path.join(folder, 'other'));
  await writeFile(path.join(folder, 'other', 'mine.txt'), '');
  const { code, states, findings } = await diagnose('pk_wrong', './other');
  expect({ code, states }).toMatchObject({
    code: 3,
    states: { service: 'failed', lake: 'failed', disk: expect.anything() },
  });
  expect(findings.find(({ name }) => name === 'service')?.next).toContain('source.apiKey');
});

test('without a pipeline file it says so, and looks at the rest that it can', async () => {
  const { code, stdout } = await runHere(['doctor'], { cwd: path.join(folder, 'other') });
  expect(code).toBe(3);
  expect(stdout).toMatch(/^ok +node /mu);
  expect(stdout).toMatch(/^FAILED +pipeline +no pipeline file/mu);
  expect(stdout).toContain('pipeline → Write one with `pricelake init`');
});
