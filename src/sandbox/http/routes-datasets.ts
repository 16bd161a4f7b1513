import type { DuckDBValue } from '@duckdb/node-api';
import type { Hono } from 'hono';
import { stringify } from 'lossless-json';
import { PATH_SEPARATOR } from '../catalog/categories.js';
import type { DatasetEntry } from '../catalog/datasets.js';
import { itemsAt } from '../world/past-sql.js';
import type { World } from '../world/world.js';
import type { SqlRow } from '../world/world-database.js';
import { isMetered } from './account.js';
import { answerJson, UPGRADE_URL } from './answers.js';
import { chooseDatasets, chooseMoment, type SandboxEnv, type Service } from './caller.js';

const LISTED = 'mask & $mask::INTEGER <> 0 AND removed_at IS NULL';
const countSites = (items: string) => `SELECT id, site->>'name' AS name, site->>'host' AS host, items FROM (
  SELECT site_id AS id, min(site_json) AS site, count(*) AS items FROM ${items} WHERE ${LISTED} GROUP BY ALL)
  ORDER BY items DESC, id`;
const countCurrencies = (items: string) => `SELECT currency AS code, count(*) AS items FROM ${items}
  WHERE ${LISTED} AND currency IS NOT NULL GROUP BY ALL ORDER BY items DESC, code`;
const countCategoryItems = (items: string) => `SELECT category_id AS id, count(*) AS items FROM ${items}
  WHERE ${LISTED} AND category_id IS NOT NULL GROUP BY ALL`;

/** Adds `/facets` (API §2 and §4). Ids stay bigint values, so that they are exact. */
export function addFacetsRoute(app: Hono<SandboxEnv>, service: Service): void {
  const { world } = service;
  app.get('/facets', async (c) => {
    const mask = chooseDatasets(c.var, '404');
    const items = itemsAt(chooseMoment(service, 'facets'));
    const facets = await world.database.use(async (session) => ({
      categories: countCategories(world, await session.rows(countCategoryItems(items), { mask })),
      currencies: await session.rows(countCurrencies(items), { mask }),
      sites: await session.rows(countSites(items), { mask }),
    }));
    return answerJson(Buffer.from(stringify(facets) as string));
  });
}

/** Counts the items of each category, including its subcategories. */
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

/** Adds `/plan` and `/datasets` (API §2 and §4). */
export function addPlanRoutes(app: Hono<SandboxEnv>, service: Service): void {
  const { account } = service;

  app.get('/plan', (c) => {
    const { kind, plan, locked } = c.var.caller;
    const { apiCalls, exportRows, resetsAt } = account.usage;
    return c.json({
      plan: plan.code,
      name: plan.name,
      status: plan.status,
      trialEndsAt: account.trialEndsAt?.toISOString() ?? null,
      limits: plan.limits,
      lockedDatasets: locked.length,
      upgradeUrl: UPGRADE_URL,
      usage: isMetered(kind) ? { apiCalls, exportRows, resetsAt: resetsAt.toISOString() } : null,
    });
  });

  app.get('/datasets', async (c) => {
    const { datasets } = c.var.caller.view;
    const items = itemsAt(chooseMoment(service, 'facets'));
    return c.json(await Promise.all(datasets.map((dataset) => describeDataset(service.world, dataset, items))));
  });
}

const describeSql = (items: string) => `
WITH members AS (
  SELECT site_id, model_id, count(*) FILTER (removed_at IS NULL) AS listed
  FROM ${items} WHERE mask & $mask::INTEGER <> 0 GROUP BY ALL
)
SELECT coalesce(sum(listed), 0)::BIGINT AS items, count(DISTINCT m.site_id) AS sites, count(*) AS models,
  count(*) FILTER (s.healthy) AS healthy,
  strftime(max(s.last_scrape_at), '%Y-%m-%dT%H:%M:%SZ') AS newest, strftime(min(s.last_scrape_at), '%Y-%m-%dT%H:%M:%SZ') AS oldest
FROM members m JOIN sources s USING (model_id)`;

async function describeDataset(world: World, dataset: DatasetEntry, items: string): Promise<object> {
  const { id, name, description, bit } = dataset;
  const row = (await world.database.use((session) => session.row(describeSql(items), { mask: 1 << bit }))) as SqlRow;
  const count = (value: DuckDBValue | undefined) => Number(value);
  return {
    id,
    name,
    description,
    items: count(row.items),
    sites: count(row.sites),
    models: count(row.models),
    healthyModels: count(row.healthy),
    newestScrapeAt: row.newest ?? null,
    oldestScrapeAt: row.oldest ?? null,
  };
}
