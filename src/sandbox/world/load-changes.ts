import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PricelakeError } from '../../errors/errors.js';
import { markLongNumbers } from './exact-numbers.js';
import { findBadChange } from './find-bad-line.js';
import { COUNT_BROKEN_CHANGES, ORDER_RECORDED, READ_CHANGES, SELECT_RECORDED_LINES } from './load-changes-sql.js';
import { publishOrdered } from './publish-changes.js';
import { unpackFile } from './unpack-file.js';
import type { World } from './world.js';
import type { SqlRow, WorldSession } from './world-database.js';

/**
 * Adds the Changes of a file (NDJSON, gzip too) to the feed of a world whose items are loaded, with their ids and times.
 * Returns the time of the latest, in milliseconds since 1970.
 * @throws PricelakeError `usage` when the file can't be read, `config` naming the line that is no Change
 */
export async function publishRecordedPast(world: World, session: WorldSession, file: string): Promise<number> {
  const path = await unpackFile(world.directory, file, 'Change');
  const marked = join(world.directory, 'marked.ndjson');
  let counts: SqlRow | undefined;
  try {
    await markLongNumbers(path, marked);
    await session.run(READ_CHANGES, { path: marked });
    counts = await session.row(COUNT_BROKEN_CHANGES);
  } catch (cause) {
    throw await describeBadChange(world, file, path, String(cause), cause);
  }
  if (counts?.changes === 0n) throw await describeBadChange(world, file, path, 'the file holds no changes');
  if (counts?.broken !== 0n) throw await describeBadChange(world, file, path, 'a change is broken');
  await session.run(ORDER_RECORDED);
  await publishOrdered(world, session, SELECT_RECORDED_LINES);
  await rm(marked);
  return Number(counts?.latest);
}

async function describeBadChange(world: World, file: string, path: string, otherwise: string, cause?: unknown) {
  const bad = await findBadChange(path, (id) => world.findItem(id, -1) >= 0);
  const where = bad === null ? `${file}: ${otherwise}` : `${file}, line ${bad.line}: ${bad.reason}`;
  const hint =
    'Each line has to be a Change as GET /api/v1/changes answers it, oldest first; item is null where it is not among the Items.';
  return new PricelakeError('config', where, { hint, ...(bad === null ? {} : { line: bad.line }) }, { cause });
}
