import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import { failure } from '../failure.js';
import { countUsed, expectExactCopy } from './exact-copy.js';
import { openWorld } from './world.js';

type ChangeExport = (answer: Response) => Response | Promise<Response>;

const world = await openWorld({ items: 40, sites: 2, history: 'none' });
afterAll(() => world.close());
beforeEach(() => world.renew());

function changeExports(change: ChangeExport): void {
  world.intercept = async (request, next) => {
    const answer = await next(request);
    return new URL(request.url).pathname.endsWith('/export') ? change(answer) : answer;
  };
}

const exports = () => world.requests.filter((request) => request.startsWith('/export')).length;

/** The quota is used up without anyone knowing, so the export contains no rows. */
const cutToNothing: ChangeExport = async (answer) => {
  const type = answer.headers.get('content-type') ?? '';
  const [header = ''] = (await answer.text()).split('\n');
  return new Response(type.startsWith('text/csv') ? `${header}\n` : '', {
    headers: {
      'content-type': type,
      'X-Export-Rows': '0',
      'X-Export-Rows-Remaining': '0',
      'X-Export-Truncated': 'true',
      'X-Export-Matching': '40',
    },
  });
};

describe('the headers X-Export-*', () => {
  test.each([
    ['if always sent', { 'X-Export-Overage': 'false', 'X-Export-Truncated': 'false', 'X-Export-Matching': '40' }],
    ['if sent only when true', { 'X-Export-Overage': undefined, 'X-Export-Truncated': undefined }],
  ])('describe a complete export without overage, %s', async (_how, sent) => {
    changeExports((answer) => {
      const headers = new Headers(answer.headers);
      for (const [name, value] of Object.entries(sent)) value ? headers.set(name, value) : headers.delete(name);
      return new Response(answer.body, { headers });
    });
    const { row } = await world.sync();
    expect(row).toMatchObject({ export_rows: 40n, export_rows_landed: 40n, overage: false, overage_blocks: 0n });
    expect(exports()).toBe(1);
    await expectExactCopy(world);
  });
});

describe('an export that the service truncates to half', () => {
  test.each([
    ['flags with the value 1', { 'X-Export-Truncated': '1', 'X-Export-Matching': '40' }],
    ['does not flag', { 'X-Export-Matching': '40' }],
    ['denies', { 'X-Export-Truncated': 'false', 'X-Export-Matching': '40' }],
  ])('and that it %s is not a copy: pages return the other items', async (_how, sent) => {
    changeExports(async (answer) => {
      const rows = (await answer.text()).split('\n').filter((_, line) => line < 20);
      const headers = { 'content-type': answer.headers.get('content-type') ?? '', 'X-Export-Rows': '20', ...sent };
      return new Response(rows.join('\n'), { headers });
    });
    expect((await world.sync()).row).toMatchObject({ items: 40n, export_rows: 20n, caught_up: true });
    await expectExactCopy(world);
  });
});

describe('an export that the service truncates to no rows', () => {
  test.each(['ndjson', 'csv'] as const)(
    'in %s is not a copy of an empty service: pages return all items',
    async (format) => {
      changeExports(cutToNothing);
      world.pipeline.source.export = format;
      const { row } = await world.sync();
      expect(row).toMatchObject({ items: 40n, export_rows: 0n, export_rows_landed: 0n, export_rows_lost: 0n });
      expect(row.received).toBe(row.written + row.rejected + row.deduplicated);
      expect(exports()).toBe(1);
      await expectExactCopy(world);
    },
  );

  test("if the remaining calls can't cover the pages, stops until the next month and removes no item", async () => {
    await world.sync();
    changeExports(cutToNothing);
    world.pipeline.source.mode = 'snapshot';
    world.pipeline.budget.calls = { count: (await countUsed(world)) + 40 };
    const error = await failure(world.sync());
    expect([error.code, exitCodeOf(error), error.facts.limit]).toEqual(['quota', 5, 'exportRowsPerMonth']);
    expect(error.facts.nextRunAt).toEqual(new Date('2026-12-01T00:00:00Z'));
    await expectExactCopy(world);
  });
});
