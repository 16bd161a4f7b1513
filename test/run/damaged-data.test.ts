import { cp, open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { failure, faultOf } from '../failure.js';
import { openWorld } from './world.js';

let original: string;
const world = await openWorld({ items: 60, sites: 1, pastDays: 2 });
beforeAll(async () => {
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 60 });
  original = world.lakePath;
});
afterAll(() => world.close());

async function overwrite(file: string, share: number, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(bytes, 0, bytes.length, Math.floor(((await stat(file)).size - bytes.length) * share));
  await handle.close();
}

const SHARES = [0, 0.1, 0.3, 0.5, 0.7, 0.85, 0.9, 0.95, 1];

test.each(SHARES)(
  'altered bytes at %d of the length of the items files stop a run as damage, or have no effect',
  async (share) => {
    for (const bytes of [Buffer.alloc(16), Buffer.alloc(1, 0xff)]) {
      world.renew();
      await cp(original, world.lakePath, { recursive: true });
      const items = path.join(world.lakePath, 'items');
      for (const name of await readdir(items)) {
        if (name.endsWith('.parquet')) await overwrite(path.join(items, name), share, bytes);
      }
      const error = await faultOf(world.sync());
      if (error === undefined) continue;
      expect(error).toMatchObject({
        code: 'lake_invalid',
        message: expect.stringMatching(/: a data file is missing or damaged: items\/\S+ has a different checksum$/),
        facts: { hint: expect.stringContaining('`pricelake lake rebuild`') },
      });
    }
  },
);

/** Flips a bit that makes DuckDB read other rows without an error. */
async function changeSilently(file: string): Promise<void> {
  const bytes = await readFile(file);
  const db = await Database.open();
  const read = async () =>
    JSON.stringify(await db.rows(`SELECT CAST(COLUMNS(*) AS VARCHAR) FROM read_parquet('${file}')`));
  const before = await read();
  for (let at = 4; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    await writeFile(file, changed);
    const after = await read().catch(() => before);
    if (after !== before) return db.close();
  }
  throw new Error('DuckDB notices every bit');
}

test('rows that a flipped bit altered are never written again: the run reports the damage', async () => {
  world.renew();
  await cp(original, world.lakePath, { recursive: true });
  const items = path.join(world.lakePath, 'items');
  const [name = ''] = (await readdir(items)).filter((one) => one.endsWith('.parquet'));
  await changeSilently(path.join(items, name));
  expect(await failure(world.sync())).toMatchObject({
    code: 'lake_invalid',
    message: expect.stringMatching(/: a data file is missing or damaged: items\/\S+ has a different checksum$/),
    facts: { hint: expect.stringContaining('`pricelake lake rebuild`') },
  });
});
