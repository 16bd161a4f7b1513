import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listBlocks } from '../../docs/render/fenced-blocks.js';
import { packagePath } from '../../src/io/package-path.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start.js';
import { runHere } from '../cli/pricelake.js';
import { readShell } from './list-examples.js';

const SKILLS = readdirSync(packagePath('skills'));
const read = (skill: string) => readFileSync(packagePath(`skills/${skill}/SKILL.md`), 'utf8');

let sandbox: Sandbox;
let folder: string;
let env: Record<string, string>;
let item: string;

const run = (args: string[]) => runHere(args, { env, cwd: folder });

/** Prepares a lake with two runs, and waiting changes. */
beforeAll(async () => {
  sandbox = await startSandbox({ items: 200, sites: 4, ratePerSecond: null });
  folder = await mkdtemp(join(tmpdir(), 'pricelake-skills-'));
  env = { PRICELAKE_BASE_URL: sandbox.baseUrl, PRICELAKE_API_KEY: sandbox.keys.live };
  await run(['init', 'prices.yaml']);
  for (const hours of [3, 3]) {
    await run(['sync', '--quiet']);
    await sandbox.advance({ hours, changes: 20 });
  }
  const { stdout } = await run(['query', 'SELECT item_id FROM items ORDER BY 1 LIMIT 1', '--format', 'csv']);
  item = stdout.trim().split('\n').at(-1) ?? '';
});
afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

/** Members of the example that the real output lacks, or has in another type, as dotted paths. */
function compare(told: unknown, real: unknown, path = ''): string[] {
  if (Array.isArray(told)) {
    if (!Array.isArray(real)) return [`${path} is no list`];
    return told.length === 0 || real.length === 0 ? [] : compare(told[0], real[0], `${path}[0]`);
  }
  if (typeof told !== 'object' || told === null) {
    return typeof told === typeof real || real === null ? [] : [`${path} is ${typeof real}, not ${typeof told}`];
  }
  if (typeof real !== 'object' || real === null) return [`${path} is no object`];
  return Object.entries(told).flatMap(([name, member]) =>
    name in real ? compare(member, real[name as never], `${path}.${name}`) : [`${path}.${name} is missing`],
  );
}

test('there are skills to operate, analyze and recover, each with a name and a description of its use', () => {
  expect(SKILLS.sort()).toEqual(['analyse', 'operate', 'recover']);
  for (const skill of SKILLS) {
    expect(existsSync(packagePath(`skills/${skill}/SKILL.md`))).toBe(true);
    expect(read(skill)).toMatch(new RegExp(`^---\\nname: pricelake-${skill}\\ndescription: .{40,300}\\n---\\n`, 'u'));
  }
});

describe.each(['operate', 'analyse', 'recover'])('skill %s', (skill) => {
  const blocks = listBlocks(read(skill));
  const commands = blocks.flatMap(({ language, body }, at) =>
    language === 'sh' ? [{ text: body.trim(), json: blocks[at + 1] }] : [],
  );

  test('shows the printed JSON after each command', () => {
    expect(commands.length).toBeGreaterThan(3);
    expect(commands.filter(({ json }) => json?.language !== 'json').map(({ text }) => text)).toEqual([]);
    expect(commands.flatMap(({ text }) => readShell(text)).length).toBe(commands.length);
  });

  test.each(commands)('$text prints the documented JSON', async ({ text, json }) => {
    const [{ args = [] } = {}] = readShell(text.replace('ITEM_ID', item));
    const { stdout, stderr, code } = await run(args);
    const real = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as unknown;
    expect([compare(JSON.parse(json?.body ?? ''), real), stderr.slice(0, text.includes('# error') ? 0 : -1)]).toEqual([
      [],
      expect.any(String),
    ]);
    expect(code === 0).toBe(!text.includes('# error'));
  });
});
