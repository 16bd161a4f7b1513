import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { backfillHistory } from '../../src/cli/backfill-history.js';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import { realIo } from '../../src/io/real-io.js';
import type { RunReport } from '../../src/run/sync.js';
import type { FaultEndpoint } from '../../src/sandbox/faults/fault-kinds.js';
import { estimateWithWings, syncWithWings } from '../../src/wings/index.js';
import { proveItems } from '../../src/wings/sample/prove-sample.js';
import { readAnswersTable } from '../docs/answers-table.js';
import { failure } from '../failure.js';
import { openWorld, readItems, readTruth, refuse } from './world.js';

/** Answers requests to endpoints for which the sandbox has no fault. */
let stub: { path: RegExp; status: number } | undefined;
/** The requests that were answered 200. */
const paid: string[] = [];
const waits: number[] = [];

/** Time passes only by waiting. */
const io = {
  ...realIo,
  now: () => new Date(startedAt + waits.reduce((sum, ms) => sum + ms, 0)),
  sleep: async (ms: number) => void waits.push(ms),
};
const startedAt = Date.now();
const { signal } = new AbortController();

const world = await openWorld({
  items: 60,
  sites: 2,
  history: 'none',
  intercept: async (request, next) => {
    const where = new URL(request.url);
    const name = where.pathname.replace('/api/v1', '');
    if (stub?.path.test(name)) return refuse(stub.status);
    const answer = await next(request);
    if (answer.ok) paid.push(name + where.search);
    return answer;
  },
});
afterAll(() => world.close());

const PATHS: Partial<Record<FaultEndpoint, RegExp>> = {
  recent: /^\/changes\/recent$/,
  item: /^\/items\/\d+$/,
  history: /^\/items\/\d+\/history$/,
};
const pathOf = (endpoint: FaultEndpoint) => PATHS[endpoint] ?? new RegExp(`^/${endpoint}$`);

/** Makes the endpoint answer this way from now on. */
function answerWith(endpoint: FaultEndpoint, answer: string, limit: string): void {
  const status = answer === 'other' ? 418 : Number(answer);
  if (['400', '404', 'other'].includes(answer)) stub = { path: pathOf(endpoint), status };
  else world.sandbox.armFaults([`${endpoint}:${answer === '5xx' ? 'html' : answer}${limit && `=${limit}`}`]);
}

function answerAgain(): void {
  stub = undefined;
  world.sandbox.armFaults([]);
}

const ROWS = readAnswersTable('status') as [answer: string, limit: string, code: string, exit: string][];
/** The endpoints to which section 7 of the API document limits an answer. */
const ONLY: Record<string, FaultEndpoint[]> = {
  '400': ['items', 'recent', 'export'],
  '402 changeFeed': ['changes'],
  '404': ['datasets', 'export'],
  '429 exportRowsPerMonth': ['export'],
};
const ATTEMPTS: Record<string, number> = { '429 ratePerSecond': 30, '5xx': 8 };

/** An operation with the service, and the endpoints that it needs, in the order of its requests. */
interface Operation {
  name: string;
  needs: FaultEndpoint[];
  /** On these endpoints, SOME answers suffice, because the others are handled as elsewhere. Default none. */
  some?: FaultEndpoint[];
  prepare?: () => Promise<unknown>;
  run: () => Promise<RunReport | undefined>;
}

/** A refusal, a limit, a temporary fault, and an undocumented answer. */
const SOME = ['401', '429', '5xx', 'other'];

const sync = () => syncWithWings(world.pipeline, io);
const OPERATIONS: Operation[] = [
  {
    name: 'a first copy',
    needs: ['plan', 'recent', 'items', 'export', 'changes', 'datasets'],
    some: ['recent', 'items', 'datasets'],
    run: sync,
  },
  {
    name: 'a run with the feed',
    needs: ['items'],
    some: ['items'],
    prepare: () => world.sandbox.advance({ hours: 2, changes: 12 }),
    run: sync,
  },
  {
    name: 'a poll',
    needs: ['items'],
    some: ['items'],
    prepare: async () => {
      world.pipeline.source.mode = 'poll';
      await world.sandbox.advance({ hours: 2, changes: 12 });
    },
    run: sync,
  },
  {
    name: 'a backfill of history',
    needs: ['history'],
    run: async () => (await backfillHistory(world.pipeline, { where: 'item_id % 7 = 0' }, io, signal)).run,
  },
  {
    name: 'pricelake plan',
    needs: ['plan', 'changes'],
    some: ['plan', 'changes'],
    run: async () => {
      world.pipeline.source.mode = 'feed';
      await estimateWithWings(world.pipeline, io);
      return undefined;
    },
  },
  {
    name: 'verify --items',
    needs: ['item'],
    run: async () => {
      expect((await proveItems(world.pipeline, 4, io, signal)).mismatches).toBe(0n);
      return undefined;
    },
  },
];

const readPointer = () => {
  const pointer = path.join(world.lakePath, 'lake.json');
  return existsSync(pointer) ? readFileSync(pointer, 'utf8') : undefined;
};

describe.each(OPERATIONS)('during $name', ({ needs, some = [], prepare, run }) => {
  beforeAll(async () => {
    await prepare?.();
    paid.length = 0;
  });

  const cases = needs.flatMap((endpoint) =>
    ROWS.filter(([answer]) => !some.includes(endpoint) || SOME.includes(answer))
      .filter(([answer, limit]) => ONLY[`${answer} ${limit}`.trim()]?.includes(endpoint) ?? true)
      .map((row) => [endpoint, ...row] as const),
  );
  test.each(cases)('/%s answers %s %s: %s, exit %s', async (endpoint, answer, limit, code, exit) => {
    const before = readPointer();
    world.requests.length = 0;
    waits.length = 0;
    answerWith(endpoint, answer, limit);
    const error = await failure(run());
    answerAgain();
    expect([error.code, String(exitCodeOf(error))]).toEqual([code, exit]);
    if (limit !== '') expect(error.facts.limit).toBe(limit);
    expect(error.facts.nextRunAt instanceof Date).toBe(code === 'quota');
    expect(readPointer() === before).toBe(true);
    const attempts = ATTEMPTS[`${answer} ${limit}`.trim()] ?? 1;
    const asked = world.requests.filter((request) => pathOf(endpoint).test(request.split('?')[0] ?? ''));
    expect(new Set(asked).size * attempts).toBeGreaterThanOrEqual(asked.length);
    expect(asked.length).toBeGreaterThanOrEqual(attempts);
    if (limit === 'ratePerSecond') expect(waits.filter((ms) => ms >= 1000).length).toBeGreaterThanOrEqual(29);
  });

  test('a temporary fault is waited for, and nothing that was answered before is requested or paid for again', async () => {
    world.sandbox.armFaults(needs.flatMap((one) => [`${one}:429@1`, `${one}:html@2`]));
    const report = await run();
    answerAgain();
    if (report !== undefined) {
      const { received, written, rejected, deduplicated } = report.row;
      expect(received).toBe(written + rejected + deduplicated);
      expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
    }
    // The service's newest change is requested until something has landed.
    const isLanded = (request: string) => !/^\/(plan$|changes\/recent|items\?.*size=1$)/.test(request);
    const repeated = paid.filter((request, index) => isLanded(request) && paid.indexOf(request) < index);
    expect(repeated).toEqual([]);
  });
});

describe('calls that only check the copy', () => {
  beforeAll(async () => {
    world.pipeline.source.mode = 'snapshot';
    world.pipeline.proof = { sample: 3, products: true, facets: true };
    await world.sandbox.advance({ hours: 1, changes: 6 });
  });

  test('stop the run only if the key is refused', async () => {
    const before = readPointer();
    answerWith('facets', '401', '');
    await expect(sync()).rejects.toMatchObject({ code: 'unauthorized' });
    answerAgain();
    expect(readPointer() === before).toBe(true);
  });

  test('are skipped after any other refusal, and the run publishes without them', async () => {
    world.sandbox.armFaults(['products:402=paymentOverdue', 'item:429=apiCallsPerMonth']);
    stub = { path: pathOf('facets'), status: 404 };
    const { row } = await sync();
    answerAgain();
    expect(row).toMatchObject({ sampled: 0n, products_compared: 0n, facets_compared: 0n });
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  });
});

test('an item that is no longer visible (404) is left out of a backfill', async () => {
  world.pipeline.source.mode = 'auto';
  stub = { path: pathOf('history'), status: 404 };
  const { asked } = await backfillHistory(world.pipeline, { where: 'item_id % 5 = 0' }, io, signal);
  answerAgain();
  expect(asked).toBeGreaterThan(5);
});

describe('a fault of the connection or of responses', () => {
  test('that a run can handle loses no row, and repeated rows are counted as duplicates', async () => {
    world.renew();
    const faults = ['export:drop@1', 'plan:redirect', 'datasets:drop@1', 'recent:html@1'];
    world.sandbox.armFaults([...faults, 'export:duplicate=4', 'export:move=20']);
    const { row } = await sync();
    answerAgain();
    expect(row.rejected).toBe(0n);
    expect(row.deduplicated).toBeGreaterThanOrEqual(4n);
    expect(row.export_rows).toBe(row.export_rows_landed);
    expect(row.export_rows_lost).toBeGreaterThan(0n);
    expect(world.requests.filter((request) => request.startsWith('/export'))).toHaveLength(2);
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
    world.pipeline.source.mode = 'snapshot';
  });

  test.each([
    ['export:rows=-3', 'snapshot_incomplete', 75],
    ['export:drop', 'unavailable', 75],
    ['changes:malformed', 'contract', 1],
    ['changes:redirect=other', 'contract', 1],
    ['changes:stale-cursor', 'contract', 1],
  ])('%s ends the run with %s, exit %i, and nothing is published', async (fault, code, exit) => {
    const before = readPointer();
    world.sandbox.armFaults([fault]);
    const error = await failure(sync());
    answerAgain();
    expect([error.code, exitCodeOf(error)]).toEqual([code, exit]);
    expect(readPointer() === before).toBe(true);
  });

  test('leaves a run that the next run completes, with an exact copy', async () => {
    expect((await sync()).resumed).toBe(true);
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  });
});
