import type { Hono } from 'hono';
import { stringify } from 'lossless-json';
import { PATH_SEPARATOR } from '../catalogue/categories.js';
import { itemsAt } from '../world/past-sql.js';
import type { World } from '../world/world.js';
import { chooseDatasets, type SandboxEnv, type Service } from './caller.js';
import { answerJson } from './json-answer.js';
import { chooseMoment } from './moments.js';
import { Parameters } from './parameters.js';

const LISTED = 'mask & $mask::INTEGER <> 0 AND removed_at IS NULL';
const countSites = (
  items: string,
) => `SELECT s.site_id AS id, s.name, s.host, count(*) AS items FROM ${items} JOIN sites s USING (site_id)
  WHERE ${LISTED} GROUP BY ALL ORDER BY items DESC, id`;
const countCurrencies = (items: string) => `SELECT currency AS code, count(*) AS items FROM ${items}
  WHERE ${LISTED} AND currency IS NOT NULL GROUP BY ALL ORDER BY items DESC, code`;
const countCategoryItems = (items: string) => `SELECT category_id AS id, count(*) AS items FROM ${items}
  WHERE ${LISTED} AND category_id IS NOT NULL GROUP BY ALL`;

/** `/facets` (sections 2 and 4): filter values with counts of the items listed now. Ids stay bigints, so exact. */
export function addFacetsRoute(app: Hono<SandboxEnv>, service: Service): void {
  const { world } = service;
  app.get('/facets', async (c) => {
    const parameters = new Parameters(new URL(c.req.url).searchParams);
    const mask = chooseDatasets(c.get('caller'), parameters.int64('dataset'), '404');
    const items = itemsAt(chooseMoment(service, 'facets'));
    const facets = await world.database.use(async (session) => ({
      categories: countCategories(world, await session.rows(countCategoryItems(items), { mask })),
      currencies: await session.rows(countCurrencies(items), { mask }),
      sites: await session.rows(countSites(items), { mask }),
    }));
    return answerJson(Buffer.from(stringify(facets) as string));
  });
}

/** A category counts its subcategories in. */
function countCategories(world: World, rows: Record<string, unknown>[]): object[] {
  const own = new Map(rows.map((row) => [Number(row.id), Number(row.items)]));
  const { categories } = world.facts;
  return categories
    .map(({ id, name, slug, path, parentId }) => {
      const below = categories.filter((other) => other.id === id || other.path.startsWith(path + PATH_SEPARATOR));
      const items = below.reduce((sum, other) => sum + (own.get(other.id) ?? 0), 0);
      return { id, name, slug, path, parentId, items };
    })
    .filter(({ items }) => items > 0);
}
