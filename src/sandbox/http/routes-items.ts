import type { Hono } from 'hono';
import { ApiError } from './api-error.js';
import { type Caller, feedEnd, historyStart, type SandboxEnv, type Service } from './caller.js';
import { readItemFilter } from './item-filter.js';
import { answerJson } from './json-answer.js';
import { Parameters } from './parameters.js';
import type { Selections } from './selections.js';

const ORDERS = {
  price: 'price NULLS LAST',
  '-price': 'price DESC NULLS LAST',
  '-lastChanged': 'last_changed_at DESC',
  '-lastSeen': 'last_seen_at DESC',
  '-firstSeen': 'first_seen_at DESC',
  title: 'title NULLS LAST',
};
const SORTS = Object.keys(ORDERS) as (keyof typeof ORDERS)[];

/** `/items`, `/items/{id}`, `/items/{id}/history` (section 4). */
export function addItemRoutes(app: Hono<SandboxEnv>, service: Service, selections: Selections): void {
  const { world } = service;

  app.get('/items', async (c) => {
    const caller = c.get('caller');
    const parameters = new Parameters(new URL(c.req.url).searchParams);
    const filter = readItemFilter(world, caller, parameters);
    const order = ORDERS[parameters.choice('sort', SORTS, '-lastChanged')];
    const page = parameters.int32('page', { min: 0, byDefault: 0 });
    const size = parameters.int32('size', { min: 1, max: 500, byDefault: 50 });
    const found = await selections.items(
      `SELECT n FROM items WHERE ${filter.where} ORDER BY ${order}, n`,
      filter.values,
    );
    const rows = await world.rows(caller.view, 'json');
    const content = found.subarray(page * size, (page + 1) * size);
    const totalPages = Math.ceil(found.length / size);
    const wrapper = `],"page":${page},"size":${size},"totalElements":${found.length},"totalPages":${totalPages}}`;
    return answerJson(rows.wrap('{"content":[', content, wrapper));
  });

  app.get('/items/:id', async (c) => {
    const caller = c.get('caller');
    const item = findItem(service, caller, c.req.param('id'));
    const rows = await world.rows(caller.view, 'json');
    return answerJson(rows.row(item));
  });

  app.get('/items/:id/history', (c) => {
    const caller = c.get('caller');
    const item = findItem(service, caller, c.req.param('id'));
    const found = world.feed.ofItem(item, historyStart(service, caller), feedEnd(service));
    const entries = found.map((row) => cutItem(world.feed.rows.row(row)));
    return answerJson(Buffer.from(`[${entries.join(',')}]`));
  });
}

function findItem(service: Service, caller: Caller, id: string): number {
  const item = /^\d{1,19}$/.test(id) ? service.world.findItem(BigInt(id), caller.view.mask) : -1;
  if (item < 0) throw new ApiError(404, `No item ${id} among the items you can see.`);
  return item;
}

/** A HistoryEntry is a Change without its item, which is its last field. */
function cutItem(change: Buffer): string {
  return `${change.subarray(0, change.lastIndexOf(',"item":')).toString()}}`;
}
