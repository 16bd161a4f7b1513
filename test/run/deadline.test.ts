import { afterAll, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import { setDeadline } from '../../src/cli/set-deadline.js';
import type { PricelakeError } from '../../src/io/errors.js';
import type { Io } from '../../src/io/io.js';
import { syncWithWings } from '../../src/wings/index.js';
import { makePipeline, openWorld, readItems, readTruth, testIo } from './world.js';

const MINUTE = 60_000;
/** Each request that reaches the service takes a minute. */
let requested = 0;
let refuse = false;

const world = await openWorld({
  items: 60,
  sites: 2,
  intercept: () => {
    requested++;
    return refuse ? Promise.resolve(new Response('{}', { status: 503 })) : undefined;
  },
});
afterAll(() => world.close());

function tickingIo(): Io {
  const start = Date.parse('2026-11-20T00:00:00Z');
  requested = 0;
  return { ...testIo, now: () => new Date(start + requested * MINUTE) };
}

async function syncUntil(minutes: number, lakePath: string): Promise<PricelakeError | undefined> {
  const io = tickingIo();
  const deadline = setDeadline(minutes * MINUTE, `${minutes}m`, io);
  return syncWithWings(makePipeline(world.sandbox, lakePath), io, undefined, { deadline }).then(
    () => undefined,
    (error: PricelakeError) => error,
  );
}

test('a run stops at its deadline at any step, keeps what has landed, and completes after a few attempts', async () => {
  const lakePath = `${world.folder}/in-steps`;
  world.requests.length = 0;
  let tries = 0;
  for (let error: PricelakeError | undefined; ; tries++) {
    error = await syncUntil(3, lakePath);
    if (error === undefined) break;
    expect([error.code, exitCodeOf(error)]).toEqual(['deadline', 75]);
    expect(error.message).toBe('the deadline of 3m has passed; landed data is kept');
    expect(requested).toBeLessThanOrEqual(4); // up to four requests run concurrently
  }
  expect(tries).toBeGreaterThanOrEqual(2);
  const paid = world.requests.filter((request) => /^\/(export|changes|items)/.test(request));
  expect(new Set(paid).size).toBe(paid.length);
  expect(await readItems(lakePath)).toEqual(await readTruth(world.sandbox));
});

test("a wait that would exceed the deadline isn't begun", async () => {
  refuse = true;
  try {
    const error = await syncUntil(1, `${world.folder}/refused`);
    expect(error).toMatchObject({ code: 'deadline' });
    expect(requested).toBe(1);
  } finally {
    refuse = false;
  }
});

test.each([
  ['refuses the connection', 'http://127.0.0.1:9', /can't reach \S+ \(connection refused: ECONNREFUSED\)/],
  ['is not found', 'http://nowhere.invalid', /can't reach nowhere\.invalid:80 \((host not found|the name server)/],
])('a host that %s is reported with the deadline that ended the attempts', async (_name, baseUrl, reason) => {
  let now = Date.parse('2026-11-20T00:00:00Z');
  const sleep = async (ms: number) => {
    now += ms;
  };
  const io: Io = { ...testIo, now: () => new Date(now), random: () => 1, sleep };
  const deadline = setDeadline(5000, '5s', io);
  const pipeline = makePipeline(world.sandbox, `${world.folder}/unreachable`);
  const error = (await syncWithWings({ ...pipeline, source: { ...pipeline.source, baseUrl } }, io, undefined, {
    deadline,
  }).catch((error: unknown) => error)) as PricelakeError;
  expect([error.code, exitCodeOf(error)]).toEqual(['deadline', 75]);
  expect(error.message).toMatch(reason);
  expect(error.message).toMatch(/, after [34] attempts; the deadline of 5s has passed; landed data is kept$/);
  expect(error.facts.hint).toBe(
    'Check source.baseUrl, the network, and any proxy that is set in HTTPS_PROXY or HTTP_PROXY.',
  );
});

test("a run that ends before its deadline isn't affected by it", async () => {
  expect(await syncUntil(600, `${world.folder}/in-time`)).toBeUndefined();
});
