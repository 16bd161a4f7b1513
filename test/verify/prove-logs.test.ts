import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import type { Lake } from '../../src/tables/layout.js';
import type { Finding } from '../../src/verify/proof.js';
import { replayTable } from '../../src/verify/replay-log.js';
import { failure } from '../failure.js';
import { openWorld, type World } from '../run/world.js';
import { copyLake, passCheckpoint } from './lake-copies.js';
import { edit, findFaults, findLogFaults } from './proofs.js';

let world: World;
let lake: Lake;

/** Opens a lake after a complete copy, in which the table datasets has passed a checkpoint. */
beforeAll(async () => {
  world = await openWorld({ items: 20, sites: 2, pastDays: 2 });
  await world.sync();
  await passCheckpoint(world);
});
afterAll(() => world.close());

beforeEach(async () => {
  lake = await copyLake(world);
});

const inLog = (table: string, name: string) => path.join(lake.root, table, '_delta_log', name);
const entryOf = (table: string) => inLog(table, '00000000000000000000.json');
const CHECKPOINT = '00000000000000000010.checkpoint.parquet';

describe('verify finds in a log entry a changed', () => {
  test.each<[string, RegExp, string]>([
    ['name in statistics', /\\"title\\":/, '\\"titlf\\":'],
    ['bound of a column that no file has', /(\\"maxValues\\":\{)/, '$1\\"novel\\":1,'],
    ['time of the commit', /("timestamp":\d+)[0-689]/, '$17'],
    ['time of a file', /("modificationTime":\d+)[0-689]/, '$17'],
    ['time of a transaction', /("lastUpdated":\d+)[0-689]/, '$17'],
    ['letter of an appId', /"pricelake\.cursor"/, '"pricelake.cursos"'],
    ['version of a transaction', /("appId":"pricelake\.cursor","version":\d+)[0-689]/, '$17'],
    ['size of a file', /("size":\d*)[0-689]/, '$17'],
    ['path of a file', /(\.parquet")/, 'x$1'],
    ['letter of a comment', /Website/, 'Webside'],
    ['letter of the program', /"pricelake\/0/, '"pricelaka/0'],
    ['letter of the run', /("runId":"\d+-)2/, '$13'],
    ['digit of its checksum', /("pricelake\.entrySha256":")[0-9a-f]{4}/, '$1beef'],
    ['name of its checksum', /("pricelake\.entrySha)256/, '$1257'],
  ])('%s, and a run refuses to build on it', async (what, pattern, replacement) => {
    await edit(entryOf('items'), (text) => text.replace(pattern, replacement));
    const logs = await findLogFaults(lake);
    expect(logs).toMatch(/^items\/_delta_log\/0{20}\.json has (?:changed since it was written|no checksum)/m);
    // Without its name, the checksum can't be compared, but the rest of the entry is unchanged.
    if (what === 'name of its checksum') return;
    world.pipeline.lake.path = lake.root;
    expect(await failure(world.sync())).toMatchObject({
      code: 'lake_invalid',
      message: expect.stringContaining('items/_delta_log/00000000000000000000.json'),
      facts: { hint: expect.stringContaining('pricelake lake rebuild') },
    });
  });

  test('letter, and `verify` reports it as a fault of the logs', async () => {
    await edit(entryOf('items'), (text) => text.replace('Website', 'Webside'));
    expect(await findFaults(lake.root)).toMatchObject({ logs: await findLogFaults(lake) });
  });

  test('bit, whichever it is', async () => {
    const file = entryOf('items');
    const sound = await readFile(file);
    // An odd step reaches each of the eight bits of a byte.
    for (let at = 0; at < sound.length; at += 19) {
      const bytes = Buffer.from(sound);
      bytes[at] = (sound[at] ?? 0) ^ (1 << (at % 8));
      await writeFile(file, bytes);
      const findings: Finding[] = [];
      await replayTable(lake, 'items', (finding) => findings.push(finding));
      expect([at, findings.length > 0]).toEqual([at, true]);
    }
  });
});

describe('verify finds in a checkpoint', () => {
  test.each<[string, string, string]>([
    ['the time of a file', 'add', 'modificationTime := add.modificationTime + 1'],
    ['the size of a file', 'add', 'size := add.size + 1'],
    ['a name in statistics', 'add', "stats := replace(add.stats, 'numRecords', 'numRecorda')"],
    ['the time of a transaction', 'txn', 'lastUpdated := txn.lastUpdated + 1'],
    ['a letter of an appId', 'txn', "appId := replace(txn.appId, 'run', 'ran')"],
    ["the table's id", 'metaData', "id := 'another'"],
    ['a comment', 'metaData', "description := 'Another.'"],
    ['the time of the table', 'metaData', 'createdTime := metaData.createdTime + 1'],
    ['a version of the protocol', 'protocol', 'minReaderVersion := 2'],
  ])('a change of %s', async (_what, kind, change) => {
    const file = inLog('datasets', CHECKPOINT);
    const db = await Database.open();
    const changed = `CASE WHEN ${kind} IS NOT NULL THEN struct_update(${kind}, ${change}) END AS ${kind}`;
    await db.run(`COPY (SELECT * REPLACE (${changed}) FROM read_parquet('${file}')) TO '${file}.new' (FORMAT parquet)`);
    await db.close();
    await cp(`${file}.new`, file);
    const logs = await findLogFaults(lake);
    expect(logs).toContain(`${CHECKPOINT} its ${kind} actions don't match the commits before it`);
    expect(logs).toMatch(/^datasets\/_delta_log\/_last_checkpoint has another size, number of actions or checksum/m);
  });

  test.each(['size', 'sizeInBytes', 'numOfAddFiles', 'pricelake.sha256'])(
    'a pointer with a changed %s',
    async (name) => {
      await edit(inLog('datasets', '_last_checkpoint'), (text) =>
        text.replace(new RegExp(`("${name}":"?)\\w`), '$1f'.replace('f', name.includes('sha') ? 'x' : '7')),
      );
      const logs = await findLogFaults(lake);
      expect(logs).toMatch(
        /_last_checkpoint has another size, number of actions or checksum than 0+10\.checkpoint\.parquet/,
      );
    },
  );
});
