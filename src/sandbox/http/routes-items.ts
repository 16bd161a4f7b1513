import type { Hono } from 'hono';
import { itemsAt, type Moment } from '../world/past-sql.js';
import type { World } from '../world/world.js';
import { ApiError, answerJson } from './answers.js';
import { type Caller, chooseMoment, feedEnd, historyStart, type SandboxEnv, type Service } from './caller.js';
import { readItemFilter } from './item-filter.js';

const ORDERS = {
  price: 'price NULLS LAST',
  '-price': 'price DESC NULLS LAST',
  '-lastChanged': 'last_changed_at DESC',
  '-lastSeen': 'last_seen_at DESC',
  '-firstSeen': 'first_seen_at DESC',
  title: 'title NULLS LAST',
};
const SORTS = Object.keys(ORDERS) as (keyof typeof ORDERS)[];

/** Adds `/items`, `/items/{id}` and `/items/{id}/history` (API §4). */
export function addItemRoutes(app: Hono<SandboxEnv>, service: Service): void {
  const { world } = service;

  app.get('/items', async (c) => {
    const { caller, parameters } = c.var;
    const filter = readItemFilter(service, c.var);
    const moment = chooseMoment(service, 'lists');
    const order = ORDERS[parameters.choice('sort', SORTS) ?? '-lastChanged'];
    const page = parameters.int32('page', { min: 0, byDefault: 0 });
    const size = parameters.int32('size', { min: 1, max: 500, byDefault: 50 });
    const found = await world.find(
      `SELECT n FROM ${itemsAt(moment)} WHERE ${filter.where} ORDER BY ${order}, n`,
      filter.values,
    );
    const content = found.subarray(page * size, (page + 1) * size);
    const totalPages = Math.ceil(found.length / size);
    const wrapper = `],"page":${page},"size":${size},"totalElements":${found.length},"totalPages":${totalPages}}`;
    return answerJson(
      await world.readRows(caller.view, moment, content, (rows) => rows.wrap('{"content":[', content, wrapper)),
    );
  });

  app.get('/items/:id', async (c) => {
    const moment = chooseMoment(service, 'items');
    const item = await findItem(world, c.var.caller, c.req.param('id'), moment);
    return answerJson(await world.readRows(c.var.caller.view, moment, item, (rows) => rows.wrap('', item, '')));
  });

  app.get('/items/:id/history', async (c) => {
    const { caller } = c.var;
    const [item = 0] = await findItem(world, caller, c.req.param('id'), null);
    const found = world.feed.ofItem(item, historyStart(service, caller), feedEnd(service));
    const entries = found.map((row) => cutItem(world.feed.rows.row(row)));
    return answerJson(Buffer.from(`[${entries.join(',')}]`));
  });
}

/** Finds the row number of an item. @throws ApiError 404 if the caller can't see such an item */
async function findItem(world: World, { view }: Caller, id: string, moment: Moment): Promise<Uint32Array> {
  if (!/^\d{1,19}$/.test(id)) throw refuseItem(id);
  const sql = `SELECT n FROM ${itemsAt(moment)} WHERE item_id = TRY_CAST($id AS BIGINT) AND mask & $mask::INTEGER <> 0`;
  const found = await world.database.use((session) => session.integers(sql, { id, mask: view.mask }));
  if (found.length === 0) throw refuseItem(id);
  return found;
}

function refuseItem(id: string): ApiError {
  return new ApiError(404, `No item ${id} among the items you can see.`);
}

/** Removes the item, which is the last field of a Change, to build a HistoryEntry. */
function cutItem(change: Buffer): string {
  return `${change.subarray(0, change.lastIndexOf(',"item":')).toString()}}`;
}
