import type { Hono } from 'hono';
import { csvHeader } from '../world/export-rows.js';
import { findSegmentEnd, type ItemView } from '../world/item-view.js';
import { findFirstAbove } from '../world/number-column.js';
import { itemsAt } from '../world/past-sql.js';
import type { RowFormat } from '../world/row-file.js';
import type { World } from '../world/world.js';
import { isMetered } from './account.js';
import { type Caller, chooseMoment, type SandboxEnv, type Service } from './caller.js';
import { readItemFilter } from './item-filter.js';
import { Parameters } from './parameters.js';
import type { Selections } from './selections.js';

/** `/export` (section 4). Rows count when the export starts, even if the caller hangs up. */
export function addExportRoute(app: Hono<SandboxEnv>, service: Service, selections: Selections): void {
  app.get('/export', async (c) => {
    const caller = c.get('caller');
    const parameters = new Parameters(new URL(c.req.url).searchParams);
    const format = parameters.choice('format', ['csv', 'ndjson'], 'csv');
    const filter = readItemFilter(service, caller, parameters);
    const moment = chooseMoment(service, 'exports');
    const matching = await selections.items(
      `SELECT n FROM ${itemsAt(moment)} WHERE ${filter.where} ORDER BY n`,
      filter.values,
    );
    const { rows, headers } = cutAtQuota(service, caller, matching);
    // HEAD gets the headers without rows.
    if (c.req.method === 'GET') service.account.countExportRows(caller.kind, rows.length);
    const bom = service.readings.get('csv.bom') === 'yes' ? '\uFEFF' : '';
    const head = format === 'csv' ? bom + csvHeader(service.world.rowStyle) : '';
    headers.set('Content-Type', format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson');
    const source = { world: service.world, view: caller.view, format: chooseFormat(service.world, format) };
    const read = (part: Uint32Array) => (moment === null ? readChunks(source, part) : readPast(source, moment, part));
    const { midExport } = c.env;
    const chunks = midExport === undefined ? read(rows) : readHalves(rows, read, midExport);
    return new Response(streamChunks(head, chunks), { headers });
  });
}

/** Other answers use the rows that look like Item. */
function chooseFormat(world: World, format: 'csv' | 'ndjson'): RowFormat {
  if (format === 'csv') return 'csv';
  const { shape } = world.rowStyle;
  return shape === null || shape === 'item' ? 'json' : 'flat';
}

/** Quota rules 2 and 3: overage is billed, or the export ends at the limit. */
function cutAtQuota(service: Service, caller: Caller, matching: Uint32Array): { rows: Uint32Array; headers: Headers } {
  const { account } = service;
  const { limits, overage } = caller.plan;
  const headers = new Headers();
  let rows = matching;
  if (limits.exportRowsPerMonth !== null && isMetered(caller.kind)) {
    const left = Math.max(0, limits.exportRowsPerMonth - account.usage.exportRows);
    const isAlways = service.readings.get('export.headers') === 'always';
    const isOver = matching.length > left;
    if (isAlways || (isOver && overage)) headers.set('X-Export-Overage', String(isOver && overage));
    if (isOver && !overage) rows = matching.subarray(0, left);
    if (isAlways || (isOver && !overage)) {
      headers.set('X-Export-Truncated', String(isOver && !overage));
      headers.set('X-Export-Matching', String(matching.length));
    }
    headers.set('X-Export-Rows-Remaining', String(Math.max(0, left - rows.length)));
  }
  headers.set('X-Export-Rows', String(rows.length));
  return { rows, headers };
}

interface RowSource {
  world: World;
  view: ItemView;
  format: RowFormat;
}

async function* readPast(
  { world, view, format }: RowSource,
  moment: number,
  rows: Uint32Array,
): AsyncGenerator<Buffer> {
  const file = await world.renderPast(view, format, moment, rows);
  try {
    yield* file.chunks(rows);
  } finally {
    file.close();
  }
}

/** Renders a segment when its turn comes, if nobody asked for it before. */
async function* readChunks({ world, view, format }: RowSource, rows: Uint32Array): AsyncGenerator<Buffer> {
  for (let first = 0; first < rows.length; ) {
    const end = findSegmentEnd(rows[first] as number);
    const last = findFirstAbove(rows, rows.length, end - 1);
    const file = await world.rows(view, format, end);
    yield* file.chunks(rows.subarray(first, last));
    first = last;
  }
}

/** Reads the second half after the pause, as it is then. */
async function* readHalves(
  rows: Uint32Array,
  read: (part: Uint32Array) => AsyncGenerator<Buffer>,
  pause: () => Promise<void>,
): AsyncGenerator<Buffer> {
  const half = Math.ceil(rows.length / 2);
  yield* read(rows.subarray(0, half));
  await pause();
  yield* read(rows.subarray(half));
}

/** Reads a chunk when the client takes it: memory stays flat however large the export. */
function streamChunks(head: string, chunks: AsyncGenerator<Buffer>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (head !== '') controller.enqueue(Buffer.from(head));
      },
      async pull(controller) {
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 1 },
  );
}
