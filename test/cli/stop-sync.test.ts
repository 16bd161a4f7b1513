import type { ChildProcess } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { openWorld, readItems, readTruth, type WorldOptions } from '../run/world.js';
import { type Outcome, readJsonLine, runPricelake } from './pricelake.js';

const PIPELINE = `source:
  baseUrl: \${BASE_URL}
  apiKey: \${KEY}
lake:
  path: ./lake
proof: { sample: 0, products: false, facets: false }
checksFolder: ./checks
`;

let intercept: NonNullable<WorldOptions['intercept']> = () => undefined;
const world = await openWorld({ items: 60, sites: 2, intercept: (request, next) => intercept(request, next) });
const cwd = path.join(world.folder, 'stopped');
await mkdir(path.join(cwd, 'checks'), { recursive: true });
await writeFile(path.join(cwd, 'prices.yaml'), PIPELINE);
await writeCheck('SELECT count(*) AS n FROM range(1000000000000000) HAVING count(*) < 0');
afterAll(() => world.close());
afterEach(() => {
  intercept = () => undefined;
});

function sync(act?: (child: ChildProcess) => void): Promise<Outcome> {
  const env = { BASE_URL: world.sandbox.baseUrl, KEY: world.sandbox.keys.live, PRICELAKE_DEBUG: '1' };
  return runPricelake(['sync', 'prices.yaml', '--json'], { cwd, env, ...(act === undefined ? {} : { act }) });
}

function expectStopped(outcome: Outcome): void {
  expect({ code: outcome.code, ...readJsonLine(outcome) }).toMatchObject({ code: 143, error: { code: 'stopped' } });
}

/** A check of the user's own. */
function writeCheck(sql: string): Promise<void> {
  const head = '-- name: endless\n-- severity: gate\n-- description: A check.\n-- next: Nothing.\n';
  return writeFile(path.join(cwd, 'checks', 'endless.sql'), `${head}${sql}\n`);
}

/** The response of a service that never finishes, at a path; `arrive` is called when the process reaches this point. */
type Answer = (arrive: () => void) => Response | Promise<Response>;

const EXPORT = { 'content-type': 'application/x-ndjson', 'x-export-rows': '1000000000' };

/** A body without end: a piece each few milliseconds. */
function flow(piece: Uint8Array, arrive: () => void): ReadableStream {
  let pieces = 0;
  return new ReadableStream({
    async pull(controller) {
      await wait(5);
      controller.enqueue(piece);
      if (++pieces === 10) arrive();
    },
  });
}

const LINES = Buffer.from('{"id":1,"site":{"id":2}}\n'.repeat(1000));

const gzipped = gzipSync(Buffer.concat(Array(50).fill(LINES)));
const JSON_TYPE = { 'content-type': 'application/json' };
const stream = (piece: Uint8Array, headers: Record<string, string>): Answer => {
  return (arrive) => new Response(flow(piece, arrive), { headers });
};
const now = (answer: () => Response | Promise<Response>): Answer => {
  return (arrive) => {
    arrive();
    return answer();
  };
};

const ANSWERS: [string, string, Answer][] = [
  ['the service is silent', '/plan', now(() => new Promise(() => {}))],
  ['a JSON response arrives slowly', '/plan', stream(Buffer.from(' '), JSON_TYPE)],
  ['it waits for a retry', '/plan', now(() => new Response('', { status: 503, headers: { 'retry-after': '100' } }))],
  ['an export streams', '/export', stream(LINES, EXPORT)],
  ['an export is decompressed', '/export', stream(gzipped, { ...EXPORT, 'content-encoding': 'gzip' })],
];

describe('SIGTERM stops a run that would never end', () => {
  // The runs share one lake, and each continues where the previous one was stopped.
  test.each(ANSWERS)('while %s', async (_when, at, answer) => {
    const outcome = await sync((child) => {
      const stop = () => void setTimeout(() => child.kill('SIGTERM'), 50);
      intercept = (request) =>
        new URL(request.url).pathname === `/api/v1${at}` ? Promise.resolve(answer(stop)) : undefined;
    });
    expectStopped(outcome);
  });

  test('while DuckDB is working, and the next run copies everything', async () => {
    const outcome = await sync((child) => {
      // The checks begin once the event `settled` is logged.
      let log = '';
      child.stderr?.on('data', (text) => {
        const isNews = !log.includes('"settled"');
        log += text;
        if (isNews && log.includes('"settled"')) setTimeout(() => child.kill('SIGTERM'), 1500);
      });
    });
    expectStopped(outcome);
    await writeCheck('SELECT 1 AS n WHERE false');
    expect((await sync()).code).toBe(0);
    expect(await readItems(path.join(cwd, 'lake'))).toEqual(await readTruth(world.sandbox));
  });
});
