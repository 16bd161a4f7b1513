import type { Hono } from 'hono';
import { itemsAt } from '../world/past-sql.js';
import { ApiError, answerJson } from './answers.js';
import { type Caller, chooseMoment, feedEnd, historyStart, type SandboxEnv, type Service } from './caller.js';
import { readItemFilter } from './item-filter.js';
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
    const filter = readItemFilter(service, caller, parameters);
    const moment = chooseMoment(service, 'lists');
    const order = ORDERS[parameters.choice('sort', SORTS, '-lastChanged')];
    const page = parameters.int32('page', { min: 0, byDefault: 0 });
    const size = parameters.int32('size', { min: 1, max: 500, byDefault: 50 });
    const found = await selections.items(
      `SELECT n FROM ${itemsAt(moment)} WHERE ${filter.where} ORDER BY ${order}, n`,
      filter.values,
    );
    const content = found.subarray(page * size, (page + 1) * size);
    const totalPages = Math.ceil(found.length / size);
    const wrapper = `],"page":${page},"size":${size},"totalElements":${found.length},"totalPages":${totalPages}}`;
    return answerJson(
      await world.readRows(caller.view, 'json', moment, content, (rows) => rows.wrap('{"content":[', content, wrapper)),
    );
  });

  app.get('/items/:id', async (c) => {
    const caller = c.get('caller');
    const item = findItem(service, caller, c.req.param('id'));
    const moment = chooseMoment(service, 'items');
    const shown = Uint32Array.of(item);
    if (moment !== null) {
      const sql = `SELECT n FROM ${itemsAt(moment)} WHERE n = $item::INTEGER`;
      if ((await selections.items(sql, { item })).length === 0) throw refuseItem(c.req.param('id'));
    }
    return answerJson(await world.readRows(caller.view, 'json', moment, shown, (rows) => rows.row(item)));
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
  if (item < 0) throw refuseItem(id);
  return item;
}

function refuseItem(id: string): ApiError {
  return new ApiError(404, `No item ${id} among the items you can see.`);
}

/** A HistoryEntry is a Change without its item, which is its last field. */
function cutItem(change: Buffer): string {
  return `${change.subarray(0, change.lastIndexOf(',"item":')).toString()}}`;
}
