import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import type { PricelakeError } from '../../src/io/errors.js';
import type { ProofResult } from '../../src/verify/verify-lake.js';
import { openContext } from '../cli/open-context.js';
import { openWorld, type World } from '../run/world.js';
import { edit } from './proofs.js';

let world: World;
let original: string;

beforeAll(async () => {
  world = await openWorld({ items: 20, sites: 2, pastDays: 2 });
  await world.sync();
  original = world.lakePath;
});
afterAll(() => world.close());
beforeEach(() => world.renew(original));

const inLake = (name: string) => path.join(world.lakePath, name);

const editFile = (name: string, change: (text: string) => string) => edit(inLake(name), change);
const cut = (text: string) => text.slice(0, -5);

const failVerify = (): Promise<PricelakeError> =>
  runVerify({ lake: world.lakePath }, openContext(true)).then(
    () => expect.unreachable('it should have failed'),
    (error) => error,
  );

test.each<[string, string, () => Promise<void>]>([
  ['a catalog that is cut in its last view', 'catalog.sql', () => editFile('catalog.sql', cut)],
  [
    'a catalog without its last view',
    'catalog.sql',
    () => editFile('catalog.sql', (text) => text.slice(0, text.lastIndexOf('\nCREATE'))),
  ],
  ['no catalog', 'catalog.sql', () => rm(inLake('catalog.sql'))],
  ['an empty catalog', 'catalog.sql', () => truncate(inLake('catalog.sql'))],
  ['credits that are cut', 'ATTRIBUTION.md', () => editFile('ATTRIBUTION.md', cut)],
  ['no credits', 'ATTRIBUTION.md', () => rm(inLake('ATTRIBUTION.md'))],
  ['no lake.json', 'lake.json', () => rm(inLake('lake.json'))],
  ['a lake.json of another text', 'lake.json', () => editFile('lake.json', (text) => `${text} `)],
  [
    'a lake.json of another run',
    'lake.json',
    () => editFile('lake.json', (text) => text.replace(/"runNumber": 1/, '"runNumber": 7')),
  ],
  [
    'a lake.json with another cursor',
    'lake.json',
    () => editFile('lake.json', (text) => text.replace(/"cursor": "\d+"/, '"cursor": "3"')),
  ],
])('verify finds %s, and a sync rewrites the file even if nothing has changed', async (_what, name, damage) => {
  await damage();
  const error = await failVerify();
  const failed = (error.facts.proofs as ProofResult[]).filter(({ found }) => found > 0);
  expect(failed.map((proof) => proof.name)).toEqual(['pointer']);
  expect(failed.flatMap(({ findings }) => findings.map(({ file }) => file))).toContain(name);
  expect(error.facts.hint).toContain('`pricelake sync` rewrites lake.json, catalog.sql and ATTRIBUTION.md');
  await world.sync();
  await runVerify({ lake: world.lakePath }, openContext(true));
  const facts = await readFile(inLake('lake.json'), 'utf8');
  expect(await world.sync()).toMatchObject({ published: false });
  expect(await readFile(inLake('lake.json'), 'utf8')).toBe(facts);
});

test('verify reports an unreadable lake.json and still checks the other files', async () => {
  await writeFile(inLake('lake.json'), '{');
  await editFile('catalog.sql', cut);
  const error = await failVerify();
  const pointer = (error.facts.proofs as ProofResult[]).find((proof) => proof.name === 'pointer');
  expect(pointer?.findings).toMatchObject([{ file: 'lake.json', what: "can't be read" }, { file: 'catalog.sql' }]);
  expect(error.facts.hint).toContain('`pricelake lake rebuild` also rewrites unreadable files');
});
