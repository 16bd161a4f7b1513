import { createHash, randomUUID } from 'node:crypto';
import { access, constants, lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createSpellsView } from '../analyze/analysis.js';
import { readVariables } from '../analyze/variables.js';
import { syncFile } from '../io/durable.js';
import { ignoreMissing } from '../io/errors.js';
import { readAnalysis } from '../sql/model.js';
import { quoteLiteral } from '../sql/quote.js';
import { privatePath } from '../tables/layout.js';
import type { OpenedLake } from './read-lake.js';
import type { CliIo } from './terminal-io.js';

/**
 * A lake with more price changes than this saves its price spells, which are the periods in which an offer kept one
 * price. With fewer changes, each query computes the price spells, which takes less than a second.
 */
const FEW_CHANGES = 150_000n;
const STALE_MS = 3_600_000;

export interface PriceSpells {
  /** The folder that queries need permission to read and write. */
  folder: string;
  /**
   * If the lake is large, saves the price spells once for each version of the lake, and makes the `price_spells` view
   * read the saved file.
   */
  prepare(): Promise<void>;
}

/**
 * Creates the `price_spells` view. For a large lake, `prepare` saves the rows of the view as a Parquet file in
 * `_pricelake/prepared`. If that folder isn't writable, the file is saved next to the scratch file.
 */
export async function openSpells(
  { db, lake, readState: read, scratch }: OpenedLake,
  io: Pick<CliIo, 'log' | 'now'>,
  fewChanges = FEW_CHANGES,
): Promise<PriceSpells> {
  await createSpellsView(db);
  const folder = await makeFolder(privatePath(lake, 'prepared'), join(dirname(scratch), 'prepared'));
  const prepare = async () => {
    const tables = [read('items'), read('history'), read('offers'), read('offer_rules')] as const;
    const [items, history, offers, rules] = await Promise.all(tables);
    const changes = history.files.reduce((sum, { rows }) => sum + rows, 0n);
    if (changes <= fewChanges) return;
    const set = readVariables('price_spells').map(({ name }) => `getvariable(${quoteLiteral(name)})::VARCHAR`);
    const values = await db.row(`SELECT to_json([${set.join(', ')}])::VARCHAR AS set`);
    const name = nameSpells([
      String(values?.set),
      ...[items, history, offers, rules].flatMap(({ files }) => files.map(({ path }) => path)),
    ]);
    const file = join(folder, name);
    if ((await stat(file).catch(ignoreMissing)) === undefined) {
      io.log('info', 'price_spells.preparing', { changes, note: 'once per version of the lake' });
      const part = join(folder, `${randomUUID()}.part`);
      try {
        await db.run(`COPY (FROM price_spells) TO ${quoteLiteral(part)} (FORMAT parquet, COMPRESSION snappy)`);
        await syncFile(part);
        await rename(part, file);
      } finally {
        await rm(part, { force: true });
      }
      await removeOthers(folder, name, io.now());
    }
    await db.run(`CREATE OR REPLACE VIEW price_spells AS FROM read_parquet(${quoteLiteral(file)})`);
  };
  return { folder, prepare };
}

/**
 * Builds a file name from a hash of everything that determines the saved rows: the names of the lake's data files,
 * which never change, the query, and the query's variables.
 */
function nameSpells(facts: readonly string[]): string {
  const digest = createHash('sha256').update(readAnalysis('price_spells')).update(facts.join('\n')).digest('hex');
  return `price_spells-${digest.slice(0, 32)}.parquet`;
}

async function makeFolder(wanted: string, otherwise: string): Promise<string> {
  try {
    await mkdir(wanted, { recursive: true });
    await access(wanted, constants.W_OK);
    // A symbolic link is rejected, because it could point outside the lake.
    if (!(await lstat(wanted)).isDirectory()) throw new Error(`${wanted} is a link`);
    return wanted;
  } catch {
    // Falls back to the other folder, because the current user may not be allowed to write to the lake's folder.
    await mkdir(otherwise, { recursive: true });
    return otherwise;
  }
}

/** Deletes files that were saved for other versions of the lake, and temporary files that killed processes left. */
async function removeOthers(folder: string, kept: string, now: Date): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const isStale = async () => ((await stat(path).catch(ignoreMissing))?.mtimeMs ?? 0) < now.getTime() - STALE_MS;
    if (name !== kept && (!name.endsWith('.part') || (await isStale()))) await rm(path, { force: true });
  }
}
