import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { openContext } from '../cli/open-context.js';
import { openWorld, readItems, readTruth } from './world.js';

const CHILD = fileURLToPath(new URL('./run-until-stopped.mjs', import.meta.url));

/** A lake after its first run. The service has changed since by several pages of changes. */
let original: string;
const world = await openWorld({ items: 300, sites: 2, pastDays: 2 });
beforeAll(async () => {
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 3500 });
  original = world.lakePath;
});
afterAll(() => world.close());

/** Starts a sync in another process, and returns its final output. */
function startChild(stopAt: string): { child: ChildProcess; said: Promise<string> } {
  const input = JSON.stringify({ pipeline: world.pipeline, stopAt });
  const child = spawn(process.execPath, [CHILD, input], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, said: text(child.stdout) };
}

const isStopped = ({ pid }: ChildProcess) => {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.startsWith('T') === true;
};

/** Makes the lock's holder invisible from here, with an old heartbeat. */
async function hideHolder(): Promise<void> {
  const lock = path.join(world.lakePath, '_pricelake', 'lock');
  const owner = JSON.parse(await readFile(lock, 'utf8')) as Record<string, unknown>;
  await writeFile(lock, JSON.stringify({ ...owner, place: 'another container' }));
  const at = Date.now() / 1000 - 70;
  await utimes(lock, at, at);
}

async function expectExact(said: string): Promise<void> {
  expect(said).toMatch(/^lake_locked .*(another process took over the lock|another process is continuing this run)$/m);
  await runVerify({ lake: world.lakePath }, openContext(true));
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
}

test.each(['landed feed', 'staged items', 'audited ', 'committed history', 'committed items'])(
  'a run that was paused at "%s" and wakes after another took over changes nothing, and reports why it ends',
  async (step) => {
    world.renew(original);
    const { child, said } = startChild(step);
    await expect.poll(() => isStopped(child), { timeout: 30_000 }).toBe(true);
    await hideHolder();
    expect(await world.sync()).toMatchObject({ published: true, resumed: true });
    child.kill('SIGCONT');
    await expectExact(await said);
  },
);

test.each([1, 2, 3])(
  'a run that was paused before page %i of the feed and wakes while another reads writes into none of its files',
  async (page) => {
    world.renew(original);
    const pages = { child: 0, taker: 0 };
    let isTaken = false;
    const { child, said } = startChild('');
    world.intercept = async (request, next) => {
      if (!new URL(request.url).pathname.endsWith('/changes')) return next(request);
      if (!isTaken) {
        pages.child += 1;
        if (pages.child === page) {
          child.kill('SIGSTOP');
          isTaken = true;
          await hideHolder();
          taker = world.sync();
          taker.catch(() => {});
        }
        return next(request);
      }
      pages.taker += 1;
      if (pages.taker === 1) {
        child.kill('SIGCONT');
        await said;
      }
      return next(request);
    };
    let taker: ReturnType<typeof world.sync> | undefined;
    await expect.poll(() => taker, { timeout: 30_000 }).toBeDefined();
    expect(await taker).toMatchObject({ published: true, resumed: true });
    await expectExact(await said);
  },
);
