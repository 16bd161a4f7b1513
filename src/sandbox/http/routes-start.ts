import { readFileSync } from 'node:fs';
import type { Hono } from 'hono';
import { formatCount } from '../../formats/count.js';
import { packagePath } from '../../io/package-path.js';
import type { SimulatedClock } from '../clock.js';
import { buildCaller, type SandboxEnv, type Service } from './caller.js';
import { renderStartPage, START_PAGE_POLICY, type StartFacts } from './start-page.js';

const KEY_TEXTS = {
  live: 'reads what the plan includes',
  test: 'reads the sample dataset alone',
  operator: 'is not metered',
};

function describeClock(clock: SimulatedClock): string {
  const { mode } = clock;
  const pace =
    mode === 'frozen'
      ? 'moves only by pricelake sandbox advance'
      : mode === 'real'
        ? 'runs on'
        : `runs on, ${mode} as fast`;
  return `${clock.iso().slice(0, 16).replace('T', ' ')} UTC, ${pace}`;
}

/** `/`, the start page for a browser, and `/openapi.json` (section 9). Neither needs a key. */
export function addStartRoutes(app: Hono<SandboxEnv>, service: Service): void {
  const document = readFileSync(packagePath('schemas/openapi.json'), 'utf8');
  const { paths } = JSON.parse(document) as { paths: Record<string, { get: { summary: string } }> };
  const endpoints = Object.entries(paths).map(([path, { get }]) => ({ path, summary: get.summary }));

  app.get('/openapi.json', (c) => c.body(document, 200, { 'Content-Type': 'application/json' }));

  app.get('/', async (c) => {
    const page = renderStartPage({ ...(await gatherFacts(service, new URL(c.req.url).origin)), endpoints });
    return c.html(page, 200, {
      'Content-Security-Policy': START_PAGE_POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-store',
    });
  });
}

const COUNT_WORLD = `SELECT count(*) FILTER (removed_at IS NULL) AS listed, count(*) AS items, count(DISTINCT site_id) AS sites,
  count(DISTINCT product_key) FILTER (removed_at IS NULL) AS products, count(DISTINCT currency) AS currencies FROM items`;

async function gatherFacts(service: Service, baseUrl: string): Promise<Omit<StartFacts, 'endpoints'>> {
  const { world, clock, account } = service;
  const row = await world.database.use((session) => session.row(COUNT_WORLD));
  const count = (value: unknown) => formatCount(Number(value));
  const figures = {
    'items listed': count(row?.listed),
    'items ever seen': count(row?.items),
    changes: count(world.feed.length),
    products: count(row?.products),
    websites: count(row?.sites),
    currencies: count(row?.currencies),
    datasets: count(buildCaller(service, 'live').view.datasets.length),
  };
  return {
    baseUrl,
    plan: account.plan.name,
    clock: describeClock(clock),
    keys: Object.entries(KEY_TEXTS).map(([kind, about]) => ({
      name: `${kind} key`,
      key: account.keys[kind as keyof typeof KEY_TEXTS],
      about,
    })),
    readings: service.readings.list(),
    figures: Object.entries(figures).map(([name, value]) => ({ name, value })),
  };
}
