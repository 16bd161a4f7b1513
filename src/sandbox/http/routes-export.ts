import type { Hono } from 'hono';
import { csvHeader } from '../world/export-rows.js';
import { findSegmentEnd, type ItemView } from '../world/item-view.js';
import { findFirstAbove } from '../world/number-column.js';
import { itemsAt, type Moment } from '../world/past-sql.js';
import type { RowFormat } from '../world/row-file.js';
import type { World } from '../world/world.js';
import { isMetered } from './account.js';
import { type Caller, chooseMoment, type SandboxEnv, type Service } from './caller.js';
import { readItemFilter } from './item-filter.js';

/** Adds `/export` (API §4). Its rows count toward the quota when the export starts, even if the client disconnects. */
export function addExportRoute(app: Hono<SandboxEnv>, service: Service): void {
  const { world } = service;
  app.get('/export', async (c) => {
    const { caller, parameters } = c.var;
    const format = parameters.choice('format', ['csv', 'ndjson']) ?? 'csv';
    const filter = readItemFilter(service, c.var);
    const moment = chooseMoment(service, 'exports');
    const matching = await world.find(
      `SELECT n FROM ${itemsAt(moment)} WHERE ${filter.where} ORDER BY n`,
      filter.values,
    );
    const { rows, headers } = cutAtQuota(service, caller, matching);
    // A HEAD request returns only the headers, so it doesn't use quota.
    if (c.req.method === 'GET') service.account.countExportRows(caller.kind, rows.length);
    const bom = service.readings.get('csv.bom') === 'yes' ? '\uFEFF' : '';
    const head = format === 'csv' ? bom + csvHeader(world.rowStyle) : '';
    headers.set('Content-Type', format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson');
    const source = { world, view: caller.view, format: chooseFormat(world, format) };
    return new Response(ReadableStream.from(readExport(source, head, moment, rows, c.env.midExport)), { headers });
  });
}

/** Chooses the format of the rows. Only exports can have field names that differ from those of Item. */
function chooseFormat(world: World, format: 'csv' | 'ndjson'): RowFormat {
  if (format === 'csv') return 'csv';
  const { shape } = world.rowStyle;
  return shape === null || shape === 'item' ? 'json' : 'flat';
}

/** Applies the export quota. Without overage, the export ends at the limit (API §4, /export, quota rules 2 and 3). */
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

/** Reads each chunk when the client is ready for it, so that memory use doesn't grow with the export. */
async function* readExport(
  source: RowSource,
  head: string,
  moment: Moment,
  rows: Uint32Array,
  midExport?: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  if (head !== '') yield Buffer.from(head);
  const half = midExport === undefined ? rows.length : Math.ceil(rows.length / 2);
  yield* readChunks(source, moment, rows.subarray(0, half));
  await midExport?.();
  yield* readChunks(source, moment, rows.subarray(half));
}

/**
 * Yields rows as bytes. Current rows are rendered one segment at a time. A segment that an earlier response has already
 * rendered is reused.
 */
async function* readChunks({ world, view, format }: RowSource, moment: Moment, rows: Uint32Array) {
  if (moment !== null) {
    const file = await world.renderPast(view, format, moment, rows);
    try {
      yield* file.chunks(rows);
    } finally {
      file.close();
    }
    return;
  }
  for (let first = 0; first < rows.length; ) {
    const end = findSegmentEnd(rows[first] as number);
    const last = findFirstAbove(rows, rows.length, end - 1);
    const file = await world.rows(view, format, end);
    yield* file.chunks(rows.subarray(first, last));
    first = last;
  }
}
