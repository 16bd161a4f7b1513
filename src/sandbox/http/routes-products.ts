import type { Hono } from 'hono';
import { itemsAt, type Moment } from '../world/past-sql.js';
import type { SqlValues } from '../world/world-database.js';
import { ApiError } from './api-error.js';
import { chooseDatasets, type SandboxEnv, type Service } from './caller.js';
import { addCategory, addWords, FilterBuilder } from './item-filter.js';
import { answerJson } from './json-answer.js';
import { chooseMoment } from './moments.js';
import { Parameters } from './parameters.js';
import {
  findProducts,
  type OfferChoice,
  offersWhere,
  PRODUCT_ORDERS,
  readKeys,
  renderProducts,
} from './product-sql.js';
import type { Selections } from './selections.js';

const SORTS = Object.keys(PRODUCT_ORDERS) as (keyof typeof PRODUCT_ORDERS)[];

/** `/products` and `/products/{id}` (section 4): the same product across shops. */
export function addProductRoutes(app: Hono<SandboxEnv>, service: Service, selections: Selections): void {
  const { world, readings } = service;
  const chooseOffers = (moment: Moment, currency: string | null): OfferChoice => ({
    items: itemsAt(moment),
    currency,
    removed: readings.get('products.offers') === 'all',
  });

  app.get('/products', async (c) => {
    const parameters = new Parameters(new URL(c.req.url).searchParams);
    const mask = chooseDatasets(c.get('caller'), parameters.int64('dataset'), readings.get('unknownDataset'));
    const filter = new FilterBuilder();
    addWords(filter, parameters.text('q'));
    addCategory(filter, world, parameters.text('category'));
    filter.addGiven('brand = $brand', 'brand', parameters.text('brand'));
    filter.addGiven("ltrim(gtin, '0') = $gtin", 'gtin', parameters.gtin('gtin'));
    const currency = parameters.currency('currency');
    const minShops = parameters.int32('minShops', { min: -(2 ** 31), byDefault: 1 });
    const order = PRODUCT_ORDERS[parameters.choice('sort', SORTS, '-offers')];
    const page = parameters.int32('page', { min: 0, byDefault: 0 });
    const size = parameters.int32('size', { min: 1, max: 200, byDefault: 50 });
    const { where, values } = filter.build();
    const choice = chooseOffers(chooseMoment(service, 'products'), currency);
    const sql = findProducts({ where, values }, choice, minShops, order);
    const found = await selections.items(sql, { ...values, mask, currency });
    const numbers = JSON.stringify([...found.subarray(page * size, (page + 1) * size)]);
    const keys = await world.database.use((session) => session.rows(readKeys(choice), { numbers }));
    const content = await render(
      service,
      keys.map(({ key }) => key as string),
      choice,
      { mask, currency },
    );
    const totals = `"totalElements":${found.length},"totalPages":${Math.ceil(found.length / size)}`;
    return answerJson(Buffer.from(`{"content":[${content}],"page":${page},"size":${size},${totals}}`));
  });

  app.get('/products/:id', async (c) => {
    const caller = c.get('caller');
    const parameters = new Parameters(new URL(c.req.url).searchParams);
    const mask = chooseDatasets(caller, parameters.int64('dataset'), '404');
    const currency = parameters.currency('currency');
    const id = c.req.param('id');
    const key = /^\d+$/.test(id) ? id.replace(/^0+/, '') : id;
    const moment = chooseMoment(service, 'products');
    const choice = chooseOffers(moment, currency);
    const sql = `SELECT n FROM ${choice.items} WHERE product_key = $key AND ${offersWhere(choice)} ORDER BY price NULLS LAST, n`;
    const offers = await selections.items(sql, { key, mask, currency });
    const [product] = await render(service, [key], choice, { mask, currency });
    if (product === undefined) throw new ApiError(404, `No offers of a product ${id} among the items you can see.`);
    const head = `{"product":${product},"offers":[`;
    return answerJson(
      await world.readRows(caller.view, 'json', moment, offers, (rows) => rows.wrap(head, offers, ']}')),
    );
  });
}

async function render(service: Service, keys: string[], choice: OfferChoice, values: SqlValues): Promise<string[]> {
  const sql = renderProducts(choice);
  const bound = { ...values, keys: JSON.stringify(keys) };
  const rows = await service.world.database.use((session) => session.rows(sql, bound));
  return rows.map(({ json }) => json as string);
}
