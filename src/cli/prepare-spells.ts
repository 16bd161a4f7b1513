import { createHash, randomUUID } from 'node:crypto';
import { access, constants, lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createSpellsView, readAnalysis } from '../analyze/analysis.js';
import { quoteLiteral } from '../duckdb/quote.js';
import { syncFile } from '../io/durable.js';
import { ignoreMissing, privatePath } from '../lake/layout.js';
import { readTable } from '../lake/read.js';
import type { OpenedLake } from './read-lake.js';
import type { CliIo } from './terminal-io.js';

/** Price spells of so many changes take less than a second: each query computes them again. */
const FEW_CHANGES = 150_000n;
/** What a process that was killed left is removed after so long. */
const STALE_MS = 3_600_000;

/** The view `price_spells` of a lake. */
export interface PriceSpells {
  /** Where spells are kept: SQL on the lake may read and write it until it is asked. */
  folder: string;
  /** Makes the view read spells that are kept. Those of a large lake are made once for its version. */
  prepare(): Promise<void>;
}

/**
 * Creates view `price_spells`. Spells of a large lake are kept as Parquet in `_pricelake/prepared`, by the files of `items`
 * and `history`, and variable with_suspects, that they follow from; where that can't be written, beside the scratch file of the command.
 */
export async function openSpells(
  { db, lake, scratch }: OpenedLake,
  io: Pick<CliIo, 'log' | 'now'>,
  fewChanges = FEW_CHANGES,
): Promise<PriceSpells> {
  await createSpellsView(db);
  const folder = await makeFolder(privatePath(lake, 'prepared'), join(dirname(scratch), 'prepared'));
  const prepare = async () => {
    const [items, history] = await Promise.all([readTable(lake, 'items'), readTable(lake, 'history')]);
    const changes = history.files.reduce((sum, { rows }) => sum + rows, 0n);
    if (changes <= fewChanges) return;
    const judged = await db.row("SELECT coalesce(getvariable('with_suspects')::BOOLEAN, false)::VARCHAR AS all");
    const name = nameSpells([
      String(judged?.all),
      ...[items, history].flatMap(({ files }) => files.map(({ path }) => path)),
    ]);
    const file = join(folder, name);
    if ((await stat(file).catch(ignoreMissing)) === undefined) {
      io.log('info', 'price_spells.preparing', { changes, note: 'once for this version of the lake' });
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

/** Files never change, so their names, the query and its variable tell the spells. */
function nameSpells(facts: readonly string[]): string {
  const digest = createHash('sha256').update(readAnalysis('price_spells')).update(facts.join('\n')).digest('hex');
  return `price_spells-${digest.slice(0, 32)}.parquet`;
}

async function makeFolder(wanted: string, otherwise: string): Promise<string> {
  try {
    await mkdir(wanted, { recursive: true });
    await access(wanted, constants.W_OK);
    // The lake does not own what is behind a link.
    if (!(await lstat(wanted)).isDirectory()) throw new Error(`${wanted} is a link`);
    return wanted;
  } catch {
    // A lake that only others may write.
    await mkdir(otherwise, { recursive: true });
    return otherwise;
  }
}

/** Spells of versions before, and what killed processes left. */
async function removeOthers(folder: string, kept: string, now: Date): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const isStale = async () => ((await stat(path).catch(ignoreMissing))?.mtimeMs ?? 0) < now.getTime() - STALE_MS;
    if (name !== kept && (!name.endsWith('.part') || (await isStale()))) await rm(path, { force: true });
  }
}
