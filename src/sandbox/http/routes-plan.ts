import type { DuckDBValue } from '@duckdb/node-api';
import type { Hono } from 'hono';
import type { DatasetEntry } from '../catalogue/datasets.js';
import { itemsAt } from '../world/past-sql.js';
import type { World } from '../world/world.js';
import type { SqlRow } from '../world/world-database.js';
import { isMetered } from './account.js';
import { UPGRADE_URL } from './api-error.js';
import type { SandboxEnv, Service } from './caller.js';
import { chooseMoment } from './moments.js';

/** `/plan` and `/datasets` (sections 2 and 4). */
export function addPlanRoutes(app: Hono<SandboxEnv>, service: Service): void {
  const { account } = service;

  app.get('/plan', (c) => {
    const { kind, plan, locked } = c.get('caller');
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
    const { datasets } = c.get('caller').view;
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
