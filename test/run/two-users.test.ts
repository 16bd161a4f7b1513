import { type ChildProcess, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { MAIN, type Outcome, readJsonLine, runPricelake } from '../cli/pricelake.js';
import { openWorld, readItems, readTruth } from './world.js';

const GROUP = 2000;
const [FIRST, SECOND] = [2001, 2002];

/** Runs a command as a user who can't see processes of others in /proc, as under systemd units. */
const becomeUser = (user: number) => [
  ...['unshare', '--mount', 'sh', '-c'],
  `mount -t proc -o hidepid=2 proc /proc && umask 002 && exec setpriv --reuid=${user} --regid=${GROUP} --clear-groups "$@"`,
  'sh',
];

/** Only root can become two users and mount /proc, and the users must be able to read the program. */
function findObstacle(): string | undefined {
  const [program = '', ...args] = [...becomeUser(FIRST), process.execPath, MAIN, '--version'];
  try {
    execFileSync(program, args, { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return String(error);
  }
}

const obstacle = findObstacle();
if (obstacle !== undefined)
  console.warn(`skipped, because this machine does not let a test become two users: ${obstacle}`);

const world = await openWorld({ items: 40, sites: 2 });
// Other users can't enter the temporary folder of a test.
const folder = mkdtempSync('/tmp/pricelake-users-');
const lakePath = join(folder, 'lake');
const lock = join(lakePath, '_pricelake', 'lock');
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

function sync(user: number, act: (child: ChildProcess) => void = () => {}): Promise<Outcome> {
  const env = { PRICELAKE_API_KEY: world.sandbox.keys.live, TMPDIR: '/tmp', HOME: folder };
  const shell = [...becomeUser(user), process.execPath, MAIN];
  return runPricelake(['sync', join(folder, 'prices.yaml'), '--json'], { env, shell, act });
}

test.skipIf(obstacle !== undefined)(
  "another user's invisible run keeps its lock while its heartbeat continues, and loses it when the heartbeat stops",
  async () => {
    mkdirSync(lakePath);
    chownSync(lakePath, FIRST, GROUP);
    chmodSync(lakePath, 0o2775);
    chmodSync(folder, 0o755);
    const source = `source: { baseUrl: ${world.sandbox.baseUrl}, apiKey: "\${PRICELAKE_API_KEY}" }`;
    writeFileSync(join(folder, 'prices.yaml'), `name: test\n${source}\nlake: { path: ${lakePath} }\n`);
    let answer: (() => void) | undefined;
    world.intercept = (request, next) => {
      if (!request.url.includes('/export') || answer !== undefined) return undefined;
      return new Promise<void>((resolve) => {
        answer = resolve;
      }).then(() => next(request));
    };

    let holder: ChildProcess | undefined;
    const first = sync(FIRST, (child) => {
      holder = child;
    });
    await expect.poll(() => answer, { timeout: 60_000 }).toBeDefined();
    const asked = [...world.requests];
    expect(readJsonLine(await sync(SECOND))).toMatchObject({
      error: { code: 'lake_locked', message: expect.stringContaining(`process ${holder?.pid} `) },
    });

    holder?.kill('SIGSTOP');
    expect(readJsonLine(await sync(SECOND))).toMatchObject({ error: { code: 'lake_locked' } });
    expect(world.requests).toEqual(asked);
    const minuteAgo = Date.now() / 1000 - 70;
    utimesSync(lock, minuteAgo, minuteAgo);
    expect(readJsonLine(await sync(SECOND))).toMatchObject({ ok: true, published: true, resumed: true });

    holder?.kill('SIGCONT');
    answer?.();
    expect(readJsonLine(await first)).toMatchObject({ error: { code: 'lake_locked' } });
    expect(await readItems(lakePath)).toEqual(await readTruth(world.sandbox));
  },
  180_000,
);
