/** Writes what other programs take: load scripts, metrics, lineage, a data contract, a source of dbt and statements of catalogs, of a lake after three runs. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { loadWarehouse } from '../../src/cli/actions/load-warehouse.js';
import { showSchema } from '../../src/cli/actions/show-schema.js';
import { openLineage } from '../../src/cli/observers/lineage.js';
import { openMetricsFile } from '../../src/cli/observers/metrics.js';
import { watchRun } from '../../src/cli/observers/watch-run.js';
import { CATALOGS, WAREHOUSES } from '../../src/deliver/names.js';
import { PricelakeError } from '../../src/io/errors.js';
import { syncWithWings } from '../../src/wings/index.js';
import { openContext } from '../cli/open-context.js';
import { BASES } from '../deliver/copy.js';
import { openWorld } from '../run/world.js';

const out = process.argv[2] ?? '.';
await mkdir(out, { recursive: true });
const world = await openWorld({ items: 120, sites: 3, pastDays: 3, checks: 'all' });
try {
  const { io, signal } = openContext();
  const { pipeline, lakePath } = world;
  for (let run = 1; run <= 3; run += 1) {
    const observers = [
      await openMetricsFile(path.join(out, 'prices.prom')),
      openLineage(path.join(out, 'events.ndjson'), io, {}),
    ];
    await watchRun(observers, io, signal, async (watch) => {
      await watch.begin(pipeline);
      return syncWithWings(pipeline, io, signal, { onStep: watch.onStep });
    });
    await world.sandbox.advance({ hours: 5, changes: 30 });
  }
  const failing = [
    await openMetricsFile(path.join(out, 'failed.prom')),
    openLineage(path.join(out, 'events.ndjson'), io, {}),
  ];
  await watchRun(failing, io, signal, async (watch) => {
    await watch.begin(pipeline);
    throw new PricelakeError('unavailable', 'the service "\\n" is away');
  }).catch(() => {});
  for (const warehouse of WAREHOUSES) {
    for (const since of [undefined, '1', '2']) {
      const output = path.join(out, `${warehouse}-${since ?? 'full'}.sql`);
      const manifests = path.join(out, 'manifests');
      const request = { warehouse, base: BASES[warehouse], schema: 'prices', output, manifests, execute: false };
      await loadWarehouse({ ...request, lake: lakePath, since, full: since === undefined }, openContext(true));
    }
  }
  await showSchema({ format: 'odcs', output: path.join(out, 'contract.odcs.yaml') }, openContext(true));
  const lake = path.join(out, 'lake');
  await cp(lakePath, lake, { recursive: true });
  await mkdir(path.join(out, 'catalogs'));
  for (const format of CATALOGS) {
    const output = path.join(out, 'catalogs', `${format}.sql`);
    await showSchema({ format, base: 's3://bucket/lake', output }, openContext(true));
  }
  await showSchema({ format: 'dbt', base: lake, output: path.join(out, 'sources.yml') }, openContext(true));
  await writeFile(path.join(out, 'done'), '');
} finally {
  await world.close();
}
