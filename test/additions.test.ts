// The additions in CONTRIBUTING.md. If a step is missing, a test fails with a sentence that names it.
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type * as z from 'zod';
import { writeOpenApi } from '../schemas/openapi.js';
import { listAnalyses } from '../src/analyze/analysis.js';
import { item as itemContract } from '../src/api/contract.js';
import { WAREHOUSES } from '../src/deliver/names.js';
import { ANALYSIS_GROUPS, UNLISTED_ANALYSES } from '../src/explore/analysis-groups.js';
import { ITEM_VALUES, PARENTS } from '../src/tables/item-names.js';
import { loadTableSchema } from '../src/tables/schemas.js';
import { estimateWithWings } from '../src/wings/index.js';
import { Service } from './sandbox/service.js';
import { PLAIN } from './sim/habits.js';
import { openSimulation } from './sim/simulation.js';
import { viewItem } from './sim/views.js';

/** Columns of items that models compute, without a field of Item. */
const COMPUTED = ['gtin14', 'product_id', 'is_listed', 'gone_at', 'extra', 'read_at', 'change_id', 'run_id'];

/** The endpoints that each step of an estimate may request. */
const ENDPOINTS: Record<string, string[]> = {
  plan: ['/plan'],
  watermark: ['/changes/recent', '/items'],
  export: ['/export', '/facets'],
  pages: ['/items'],
  poll: ['/items'],
  feed: ['/changes'],
  probe: ['/items'],
  listing: ['/facets', '/items', '/items/{id}'],
  hydrate: ['/items', '/items/{id}', '/export'],
  histories: ['/items/{id}/history'],
  datasets: ['/datasets'],
  facets: ['/facets'],
  sample: ['/items/{id}'],
  products: ['/products'],
  usage: ['/plan'],
};

const service = await Service.start({ items: 60 });
afterAll(() => service.close());

/** Fails with these sentences only. */
function expectNothingLeftOut(sentences: readonly string[]): void {
  if (sentences.length > 0) expect.fail(sentences.join('\n'));
}

const read = (file: string) => readFileSync(file, 'utf8');

/** The paths of an item's fields, such as `price` and `site.id`. */
function listPaths(item: object): string[] {
  return Object.entries(item).flatMap(([name, value]) =>
    PARENTS.includes(name) && value !== null ? Object.keys(value).map((inner) => `${name}.${inner}`) : [name],
  );
}

/** The fields of an object schema by their names. The object may be nullable. */
function fieldsOf(schema: z.ZodType): Record<string, z.ZodType> {
  const { shape, innerType } = schema.def as unknown as { shape?: Record<string, z.ZodType>; innerType?: z.ZodType };
  return shape ?? (innerType === undefined ? {} : fieldsOf(innerType));
}

describe('a column of items', () => {
  const paths = Object.keys(ITEM_VALUES);

  test('contains a field of Item, or a model computes it', () => {
    const known = [...Object.values(ITEM_VALUES).map((name) => (name === 'id' ? 'item_id' : name)), ...COMPUTED];
    const columns = loadTableSchema('items').columns.map(({ name }) => name);
    const unknown = columns.filter((name) => !known.includes(name));
    expectNothingLeftOut(
      unknown.map(
        (name) =>
          `schemas/items.yaml: the column ${name} holds no field of ITEM_VALUES in src/tables/item-names.ts. Add the field, or the column to COMPUTED in test/additions.test.ts.`,
      ),
    );
  });

  test("is in the API's contract, and each field of the contract is read", () => {
    const fields = Object.entries(fieldsOf(itemContract));
    const named = fields.map(([name, schema]) => [name, PARENTS.includes(name) ? fieldsOf(schema) : null] as const);
    const contract = listPaths(Object.fromEntries(named));
    expectNothingLeftOut([
      ...paths
        .filter((path) => !contract.includes(path))
        .map((path) => `src/api/contract.ts: Item has no field ${path}, which src/tables/item-names.ts reads.`),
      ...contract
        .filter((path) => !paths.includes(path))
        .map((path) => `src/tables/item-names.ts: ITEM_VALUES has no field ${path} of Item in src/api/contract.ts.`),
    ]);
  });

  test('is in the items of the sandbox and of the simulated service', async () => {
    const { items } = await service.sandbox.dump();
    const served = new Set(items.flatMap((text) => listPaths(JSON.parse(text) as object)));
    const simulation = await openSimulation({ seed: 1, items: 25 });
    onTestFinished(() => simulation.close());
    const view = simulation.world.asOf(0);
    const simulated = new Set(view.items.flatMap((one) => listPaths(viewItem(PLAIN, view, one))));
    expectNothingLeftOut(
      paths.flatMap((path) => [
        ...(served.has(path) ? [] : [`src/sandbox/world: the items of the sandbox have no field ${path}.`]),
        ...(simulated.has(path) ? [] : [`test/sim/views.ts: viewItem writes no field ${path}.`]),
      ]),
    );
  });
});

describe('an endpoint', () => {
  const { paths } = JSON.parse(writeOpenApi()) as { paths: Record<string, unknown> };
  const described = Object.keys(paths).map((path) => path.replace('/api/v1', ''));

  test('that the code requests is described', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const asked = files.flatMap((file) =>
      [...read(`src/${file}`).matchAll(/\.(?:json|bytes|stream)\(\s*['`](\/[^'`?]*)['`]/gu)].map(([, path]) => ({
        file,
        path: (path as string).replaceAll(/\$\{[^}]*\}/gu, '{id}'),
      })),
    );
    expect(asked.length).toBeGreaterThan(10);
    expectNothingLeftOut(
      asked
        .filter(({ path }) => !described.includes(path))
        .map(({ file, path }) => `src/${file} asks for ${path}, which schemas/endpoints.ts does not describe.`),
    );
  });

  test('that is described is served by the sandbox', async () => {
    const { items } = await service.sandbox.dump();
    const products = JSON.parse((await service.get('/products?size=1')).text) as { content: { id: string }[] };
    const ids = { items: /\d+/.exec(items[0] ?? '')?.[0] ?? '', products: products.content[0]?.id ?? '' };
    const missing: string[] = [];
    for (const path of described) {
      const [, list = ''] = path.split('/');
      const id = encodeURIComponent((ids as Record<string, string>)[list] ?? '1');
      const { status } = await service.get(path.replace('{id}', id));
      if (status === 404) missing.push(`src/sandbox/http: the sandbox does not serve ${path} of schemas/endpoints.ts.`);
    }
    expectNothingLeftOut(missing);
  });

  test('that a run requests is priced by its plan', async () => {
    const simulation = await openSimulation({ seed: 1, items: 25 });
    onTestFinished(() => simulation.close());
    const { pipeline, io, sync, world, service: simulated } = simulation;
    const unpriced = [];
    for (const kind of ['first copy', 'run by the feed']) {
      world.settle();
      const { steps } = await estimateWithWings(pipeline, io);
      const before = simulated.requests.length;
      await sync();
      const counts = new Map<string, number>();
      for (const request of simulated.requests.slice(before)) {
        const endpoint = request.replace(/\?.*/u, '').replace(/\/\d+/u, '/{id}');
        counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
      }
      for (const [endpoint, count] of counts) {
        const able = steps.filter(({ step }) => ENDPOINTS[step]?.includes(endpoint));
        const calls = able.reduce((sum, step) => sum + step.calls * (step.exact ? 1 : 2), 0);
        if (count <= calls) continue;
        unpriced.push(
          `A ${kind} asks ${endpoint} ${count} times, and \`plan\` prices ${calls}: price the call in src/run/estimate, and name its step in ENDPOINTS of test/additions.test.ts.`,
        );
      }
    }
    expectNothingLeftOut(unpriced);
  });
});

describe('a wing', () => {
  const folders = readdirSync('src/wings', { withFileTypes: true }).filter((entry) => entry.isDirectory());

  test.each(folders.map(({ name }) => name))('%s has an index.ts, and is in the list and on the map', (name) => {
    const [map = ''] = /^ {2}wings\/.*$/mu.exec(read('ARCHITECTURE.md')) ?? [];
    expectNothingLeftOut([
      ...(readdirSync(`src/wings/${name}`).includes('index.ts') ? [] : [`src/wings/${name} has no index.ts.`]),
      ...(read('src/wings/list.ts').includes(`./${name}/index.js`)
        ? []
        : [`src/wings/list.ts has no line of the wing ${name}: no run gets it.`]),
      ...(map.includes(name) ? [] : [`ARCHITECTURE.md: the line of wings/ on the map does not name ${name}.`]),
    ]);
  });
});

test('an analysis has a title in a group of the pages, or is excluded from them', () => {
  const placed = [...ANALYSIS_GROUPS.flatMap(({ titles }) => Object.keys(titles)), ...UNLISTED_ANALYSES];
  const left = listAnalyses().filter((name) => !placed.includes(name));
  expectNothingLeftOut(
    left.map((name) => `src/explore/analysis-groups.ts: neither ANALYSIS_GROUPS nor UNLISTED_ANALYSES has ${name}.`),
  );
});

test.each(WAREHOUSES)('the warehouse %s is on the page about warehouses', (name) => {
  const page = 'docs/loader/warehouse.md';
  expectNothingLeftOut(new RegExp(name, 'iu').test(read(page)) ? [] : [`${page} does not name ${name}.`]);
});
