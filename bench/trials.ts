/**
 * npm run bench:trials [-- --products 3000 --seeds 1,2 --catalog ITEMS.ndjson.gz]
 * Measures how often spreads are wrong: those of raw prices, of six lines of SQL, and of the lake's rule. The fault
 * generators in test/trials know which prices are wrong. Uses real products from a recorded catalog, or generated ones.
 * Prints Markdown.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { inventBaseProducts, readBaseProducts } from '../test/trials/base-products.js';
import { generateMarketplaces } from '../test/trials/generators/marketplaces.js';
import { generateMerchantCatalogs } from '../test/trials/generators/merchant-catalogs.js';
import { generateScrapedShops } from '../test/trials/generators/scraped-shops.js';
import { renderItems, type Trial } from '../test/trials/trial.js';
import { startSandbox, sync } from './processes.js';

const { values } = parseArgs({
  options: {
    products: { type: 'string', default: '3000' },
    seeds: { type: 'string', default: '1' },
    catalog: { type: 'string' },
  },
});

const GENERATORS = {
  'scraped shops': generateScrapedShops,
  'merchant catalogs': generateMerchantCatalogs,
  marketplaces: generateMarketplaces,
};
const RULES = ['raw', 'six-lines', 'rule'];

/** The attributes in which the generators' shops state whether an offer is in stock. A user would map the same ones. */
const AVAILABILITY = [
  ...['inStock', 'availability', 'stock', 'dostupnost', 'beschikbaarheid', 'Verfügbarkeit'],
  ...['dostępność', 'disponibilità', 'disponibilité', 'verfuegbarkeit'],
];

const writePipeline = (lake: string) => `name: trial
source: { baseUrl: '\${PRICELAKE_BASE_URL}', apiKey: '\${PRICELAKE_API_KEY}' }
lake: { path: ${JSON.stringify(lake)} }
analysis: { attributes: { availability: ${JSON.stringify(AVAILABILITY)} } }
`;

type Figures = Record<'shown' | 'false_of_50' | 'false_of_200' | 'false_pct' | 'honest_wide' | 'right_pct', string>;

const readSql = (name: string) => readFile(fileURLToPath(new URL(`./trials/${name}.sql`, import.meta.url)), 'utf8');

/** Copies a trial's items into a lake as a user would, and computes its spreads with each rule. */
async function tryRules({ items, truth }: Trial): Promise<Record<string, Figures>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-trial-'));
  const file = path.join(folder, 'items.ndjson');
  const truths = path.join(folder, 'truth.ndjson');
  await writeFile(file, renderItems(items));
  await writeFile(truths, truth.map(({ itemId, fault }) => `${JSON.stringify({ item_id: itemId, fault })}\n`).join(''));
  const lake = path.join(folder, 'lake');
  await writeFile(path.join(folder, 'trial.yaml'), writePipeline(lake));
  const sandbox = await startSandbox(undefined, ['--data', file, '--plan', 'unlimited']);
  try {
    await sync(sandbox, path.join(folder, 'trial.yaml'));
    const instance = await DuckDBInstance.create();
    const db = await instance.connect();
    // Paths in the catalog are relative to the lake.
    await db.run(`SET file_search_path = '${lake}'`);
    await db.run(await readFile(path.join(lake, 'catalog.sql'), 'utf8'));
    await db.run(`CREATE TABLE truth AS SELECT item_id::BIGINT AS item_id, fault
      FROM read_json('${truths}', columns = {item_id: 'VARCHAR', fault: 'VARCHAR'})`);
    const found: Record<string, Figures> = {};
    for (const rule of RULES) {
      const query = `WITH shown AS (${await readSql(rule)}) FROM (${await readSql('figures')})`;
      const [row] = (await db.runAndReadAll(query)).getRowObjectsJson();
      found[rule] = row as Figures;
    }
    db.closeSync();
    instance.closeSync();
    return found;
  } finally {
    await sandbox.stop();
    await rm(folder, { recursive: true });
  }
}

const count = Number(values.products);
const recorded = values.catalog === undefined ? undefined : await readBaseProducts(values.catalog);
console.log(
  '| generator | seed | rule | shown | false of 50 | of 200 | of all | honest spreads of 50 % or more | shown right |',
);
console.log('| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |');
for (const [name, generate] of Object.entries(GENERATORS)) {
  for (const seed of values.seeds.split(',').map(Number)) {
    const base = recorded?.slice(seed * count, (seed + 1) * count) ?? inventBaseProducts(count, seed);
    const found = await tryRules(generate(base, seed));
    for (const [rule, figures] of Object.entries(found)) {
      const { shown, false_of_50, false_of_200, false_pct, honest_wide, right_pct } = figures;
      const cells = [
        name,
        seed,
        rule,
        shown,
        false_of_50,
        false_of_200,
        `${false_pct} %`,
        honest_wide,
        `${right_pct} %`,
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
  }
}
