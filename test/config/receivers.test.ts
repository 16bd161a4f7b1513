// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of pipeline files look like this
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { readNotify, readPipeline } from '../../src/config/pipeline-file.js';
import type { PricelakeError } from '../../src/io/errors.js';

const SOURCE = 'source: { baseUrl: "https://api.example", apiKey: "${KEY}" }\n';
const LAKE = 'lake: { path: ./lake }\n';
const DAY_MS = 24 * 3600 * 1000;
const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-receivers-'));
const file = path.join(folder, 'prices.yaml');
afterAll(() => rm(folder, { recursive: true }));

describe('receivers of notifications', () => {
  const hook = 'https://hooks.example/T0KEN';
  const readReceivers = async (notify: string, address = hook) => {
    await writeFile(file, `${SOURCE}${LAKE}notify: ${notify}\n`);
    return readNotify(file, { HOOK: address, SIGN: 'sign' });
  };

  test('have addresses and secrets from variables, and there are none by default', async () => {
    const list =
      '[{ slack: "${HOOK}" }, { url: "${HOOK}", secret: "${SIGN}", staleAfter: 2d }, { command: [say, hi] }]';
    expect((await readReceivers(list)).notify).toEqual([
      { slack: hook, staleAfter: DAY_MS },
      { url: hook, secret: 'sign', staleAfter: 2 * DAY_MS },
      { command: ['say', 'hi'], staleAfter: DAY_MS },
    ]);
    await writeFile(file, SOURCE + LAKE);
    expect((await readNotify(file, {})).notify).toEqual([]);
  });

  test('need no variables in a command that notifies nobody', async () => {
    await writeFile(file, `${SOURCE}${LAKE}notify: [{ slack: "\${NOT_SET}" }]\n`);
    const pipeline = await readPipeline(file, { KEY: 'key' });
    expect(pipeline).not.toHaveProperty('notify');
  });

  test.each([
    [`[{ slack: "${hook}" }]`, 'notify.0.slack must not be in the file'],
    [`[{ url: "\${HOOK}", secret: T0KEN }]`, 'notify.0.secret must not be in the file'],
    ['[{ slack: "${NOT_SET}" }]', 'notify.0.slack: the environment variable NOT_SET is not set'],
    ['[{ slack: "${HOOK}", teams: "${HOOK}" }]', 'it must have one of slack, teams, url and command'],
    ['[{ staleAfter: 2d }]', 'it must have one of slack, teams, url and command'],
    ['[{ slack: "${HOOK}", secret: "${SIGN}" }]', 'it needs url, because only plain POST requests are signed'],
    ['[{ command: say }]', 'notify.0.command is text; it must be a list: the program, then its arguments'],
    ['[{ command: [] }]', 'it must be a list: the program, then its arguments'],
    ['[{ mail: me }]', 'notify.0 has an unknown key'],
    ['[{ slak: "${HOOK}" }]', 'unknown key "notify.0.slak"'],
    ['{ slack: "${HOOK}" }', 'notify is a mapping; it must be a list of at most 10 receivers'],
  ])('are refused with the problem but without an address: %s', async (notify, message) => {
    const error = await readReceivers(notify).catch((reason: PricelakeError) => reason);
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(message) });
    expect(inspect(error, { depth: 20 })).not.toContain('T0KEN');
  });

  test.each([
    ['http://hooks.example/T0KEN', 'must start with https://'],
    ['http://127.0.0.1.example/T0KEN', 'must start with https://'],
    ['file:///T0KEN', 'must start with https://'],
    ['https://me:T0KEN@hooks.example/', 'without a user name and password'],
    ['T0KEN', 'must be a URL'],
  ])('need an https address unless it is on this machine: %s', async (address, message) => {
    const error = await readReceivers('[{ teams: "${HOOK}" }]', address).catch((reason: PricelakeError) => reason);
    expect(error).toMatchObject({ code: 'config', message: expect.stringContaining(message) });
    expect(inspect(error, { depth: 20 })).not.toContain('T0KEN');
    for (const own of ['http://localhost:8080/x', 'http://127.0.0.1/x', 'http://[::1]:9/x']) {
      expect((await readReceivers('[{ teams: "${HOOK}" }]', own)).notify).toMatchObject([{ teams: own }]);
    }
  });
});
