import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { SigningSecrets } from '../../src/wings/webhook/signing-secrets.js';
import { makeFolder } from '../lake/fixture.js';
import { createLogIo } from './delivery.js';

let file: string;
beforeEach(async () => {
  file = path.join(await makeFolder('secrets'), 'secrets');
  await writeFile(file, 'one\n');
});

async function open() {
  const { io, logs } = createLogIo();
  const known: string[] = [];
  const secrets = await SigningSecrets.open(['of the environment', { file }], (secret) => known.push(secret), io);
  return { secrets, logs, known };
}

describe('signing secrets', () => {
  test('come from the environment and from files with one secret per line', async () => {
    await writeFile(file, '\n two \r\nthree\n\n');
    const { secrets, known } = await open();
    expect(await secrets.current()).toEqual(['of the environment', 'two', 'three']);
    expect(known).toEqual(await secrets.current());
  });

  test('are rotated by changing the file, or by moving another file to its place', async () => {
    const { secrets, known, logs } = await open();
    await writeFile(file, 'two\none\n');
    expect(await secrets.current()).toEqual(['of the environment', 'two', 'one']);
    await writeFile(`${file}.new`, 'two\n');
    await rename(`${file}.new`, file);
    expect(await secrets.current()).toEqual(['of the environment', 'two']);
    expect(known).toContain('two');
    expect(logs.map(({ event, secrets: count }) => [event, count])).toEqual([
      ['webhook.secrets_read', 2],
      ['webhook.secrets_read', 1],
    ]);
  });

  test('are read again on request', async () => {
    const { secrets, logs } = await open();
    await secrets.reload();
    expect(logs).toHaveLength(1);
  });

  test('stay valid while the file is missing or empty, which is logged once', async () => {
    const { secrets, logs } = await open();
    await rm(file);
    for (let n = 0; n < 3; n++) expect(await secrets.current()).toEqual(['of the environment', 'one']);
    await writeFile(file, '');
    for (let n = 0; n < 3; n++) expect(await secrets.current()).toEqual(['of the environment', 'one']);
    expect(logs.map(({ level, event }) => [level, event])).toEqual(Array(2).fill(['error', 'webhook.secrets_kept']));
    await writeFile(file, 'two\n');
    expect(await secrets.current()).toEqual(['of the environment', 'two']);
  });

  test.each([
    ['is missing', async () => rm(file), 'ENOENT'],
    ['is empty', async () => writeFile(file, ' \n'), "doesn't contain a secret"],
  ])('are refused at the start if their file %s', async (_name, spoil, reason) => {
    await spoil();
    await expect(open()).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(reason) });
    await expect(open()).rejects.not.toThrow(file);
  });
});
