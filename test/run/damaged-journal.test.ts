import { appendFile, cp, mkdir, open, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runRebuild } from '../../src/cli/actions/run-rebuild.js';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { showStatus } from '../../src/cli/actions/show-status.js';
import type { PricelakeError } from '../../src/io/errors.js';
import type { ProofResult } from '../../src/verify/verify-lake.js';
import { estimateWithWings, syncWithWings } from '../../src/wings/index.js';
import { openContext } from '../cli/open-context.js';
import { failure } from '../failure.js';
import { openWorld, readItems, readTruth, testIo } from './world.js';

/** A lake after a first copy, a run with changes and a complete comparison. The service has changed since. */
let original: string;
/** The same lake before that comparison was published. Its landing is complete, but has no end. */
let unfinished: string;

const world = await openWorld({ items: 20, sites: 2, pastDays: 2 });
beforeAll(async () => {
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 10 });
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 6 });
  world.pipeline.source.mode = 'snapshot';
  original = world.lakePath;
  world.renew(original);
  unfinished = world.lakePath;
  world.pipeline.source.mode = 'snapshot';
  world.pipeline.checks = { rejects_few: { severity: 'gate', parameters: { share: -1 } } };
  await expect(world.sync()).rejects.toMatchObject({ code: 'gate_failed' });
  world.renew(original);
  world.pipeline.source.mode = 'snapshot';
  await world.sync();
  original = world.lakePath;
});
afterAll(() => world.close());
beforeEach(() => world.renew(original));

/** The journal of the run with this number. */
async function findJournal(run: number): Promise<string> {
  const landing = path.join(world.lakePath, '_pricelake', 'landing');
  return path.join(landing, (await readdir(landing)).sort()[run - 1] ?? '', 'journal.ndjson');
}

async function flipByte(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, 400);
  await handle.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, 400);
  await handle.close();
}

async function replace(file: string, make: () => Promise<unknown>): Promise<void> {
  await rm(file);
  await make();
}

const DAMAGES: [string, (file: string) => Promise<void>][] = [
  ['is cut in the middle of a line', async (file) => truncate(file, 1000)],
  [
    'is cut off after a line',
    async (file) => writeFile(file, (await readFile(file, 'utf8')).split('\n').slice(0, 4).join('\n').concat('\n')),
  ],
  ['has a flipped byte', flipByte],
  ['is empty', (file) => truncate(file, 0)],
  ['is missing', (file) => rm(file)],
  ['is garbage', (file) => writeFile(file, Buffer.from([0, 255, 10, 13, 0, 200, 10, 7]))],
  ['is a folder', (file) => replace(file, () => mkdir(file))],
  ['is a broken link', (file) => replace(file, () => symlink('journal.ndjson', file))],
];

async function findLandingFaults(): Promise<string[]> {
  const { facts } = await failure(runVerify({ lake: world.lakePath }, openContext(true)));
  const failed = (facts.proofs as ProofResult[]).filter(({ found }) => found > 0);
  expect(failed.map(({ name }) => name)).toEqual(['landing']);
  return failed.flatMap(({ findings }) => findings.map(({ file, what }) => `${file} ${what}`));
}

/** The damages of which each is read in a different way. */
const REBUILT = ['is cut off after a line', 'is missing', 'is garbage', 'is a folder'];

describe.each(DAMAGES)('if the journal of the newest published run %s', (how, damage) => {
  let journal: string;
  beforeEach(async () => {
    journal = await findJournal(3);
    await damage(journal);
  });

  test('status, plan and runs still work and request nothing again, and verify reports it', async () => {
    const { open: left } = await showStatus({ lake: world.lakePath }, openContext(true));
    expect(left).toBeUndefined();
    expect(await estimateWithWings(world.pipeline, testIo)).toMatchObject({ unfinished: undefined, mode: 'feed' });
    world.requests.length = 0;
    await world.sandbox.advance({ hours: 6, changes: 10 });
    expect(await world.sync()).toMatchObject({ published: true, resumed: false, row: { mode: 'feed' } });
    expect(await world.sync()).toMatchObject({ published: false, resumed: false });
    expect(world.requests.filter((request) => request.startsWith('/export'))).toEqual([]);
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
    const faults = await findLandingFaults();
    expect(faults[0]).toContain(path.relative(world.lakePath, journal));
    expect(await readdir(path.dirname(journal))).toContainEqual(expect.stringMatching(/^export-/));
  });

  if (!REBUILT.includes(how)) return;
  test('a rebuild names it, and skips that run if possible', async () => {
    const { code, message, facts } = await failure(runRebuild({ lake: world.lakePath }, openContext(true)));
    expect([code, message]).toEqual(['landing_gone', expect.stringContaining(journal)]);
    expect(facts.hint).toContain('pricelake sync --reconcile');
    world.pipeline.source.mode = 'snapshot';
    await world.sync();
    const context = openContext();
    await runRebuild({ lake: world.lakePath }, context);
    expect(context.output.text).toContain(`damaged: ${journal}`);
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  });
});

describe.each(DAMAGES.slice(1))('if the journal of an unfinished run %s', (_how, damage) => {
  test('the run is resumed from the intact entries, or refused with advice that works', async () => {
    world.renew(unfinished);
    world.pipeline.source.mode = 'snapshot';
    const journal = await findJournal(3);
    await damage(journal);
    const run = await world.sync().catch((error: PricelakeError) => error);
    if (run instanceof Error) {
      expect(run).toMatchObject({ code: 'lake_invalid', message: expect.stringContaining(journal) });
      expect(run.facts.hint).toContain("Move this run's folder away.");
      expect(world.requests).toEqual([]);
      await cp(path.dirname(journal), `${world.lakePath}-away`, { recursive: true });
      await rm(path.dirname(journal), { recursive: true });
      expect(await world.sync()).toMatchObject({ published: true, resumed: false });
    } else expect(run).toMatchObject({ published: true, resumed: true });
    await runVerify({ lake: world.lakePath }, openContext(true));
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  });
});

test.each([
  ['junk with a newline', Buffer.from([0xff, 0x7b, 0x0a])],
  ['zeros and a newline', Buffer.from('\0\0\0\0\n')],
  ['two lines, the first of zeros', Buffer.from('\0\0\0\0\n{"type":"try","at":"x","sum":"0123456789abcdef"}\n')],
  ['half a line', Buffer.from('{"type":"tr')],
  ['zeros', Buffer.alloc(4096)],
  ['an empty line', Buffer.from('\n')],
])(
  "a run continues and pays for nothing twice if a power failure left %s after its journal's last synced line",
  async (_what, tail) => {
    world.renew(unfinished);
    world.pipeline.source.mode = 'snapshot';
    const journal = await findJournal(3);
    await appendFile(journal, tail);
    const logged: unknown[] = [];
    const log = (...event: unknown[]) => void logged.push(event.slice(0, 2));
    const io = { ...testIo, log };
    expect(await syncWithWings(world.pipeline, io)).toMatchObject({ published: true, resumed: true });
    expect(logged).toContainEqual(['warn', 'journal.torn']);
    expect(world.requests.filter((request) => request.startsWith('/export'))).toEqual([]);
    await runVerify({ lake: world.lakePath }, openContext(true));
  },
);

test('a journal of a published run that only lacks its end gets one, without requesting rows', async () => {
  const journal = await findJournal(3);
  const text = await readFile(journal, 'utf8');
  await truncate(journal, text.lastIndexOf('\n', text.length - 2) + 1);
  expect(await world.sync()).toMatchObject({ resumed: true });
  expect(world.requests.filter((request) => /^\/(export|items|changes)/.test(request))).toEqual([]);
  await runVerify({ lake: world.lakePath }, openContext(true));
});
