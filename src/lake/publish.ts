import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readAnalysis } from '../sql/model.js';
import { quoteIdentifier } from '../sql/quote.js';
import { tableRelation, toRelationFile } from '../sql/table-relation.js';
import type { Lake } from '../tables/layout.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { TableName, TableState } from '../tables/table.js';
import { type Attribution, writeAttributions } from './attribution.js';
import { writeDurably } from './durable.js';
import { findForeignChanges, refuseForeignChanges } from './foreign-changes.js';
import { type Pointer, readPointer } from './pointer.js';
import { readStates } from './read.js';

export interface Publication {
  pipeline: string;
  runId: string;
  runNumber: bigint;
  cursor: bigint | null;
  at: Date;
  attributions: Attribution[];
}

/**
 * Writes `ATTRIBUTION.md`, `catalog.sql` and then `lake.json`, based on the tables' logs. If it is called again for the
 * same run and the same tables, it changes no file.
 */
export async function publishPointer(lake: Lake, publication: Publication): Promise<void> {
  await writeCredits(lake, publication.attributions);
  await writePublished(lake, publication, await readPointer(lake));
}

const writeCredits = (lake: Lake, attributions: Attribution[]) =>
  writeDurably(lake, join(lake.root, 'ATTRIBUTION.md'), writeAttributions(attributions));

type RunFacts = Omit<Publication, 'attributions'>;

async function writePublished(lake: Lake, facts: RunFacts, before: Pointer | undefined): Promise<void> {
  const states = await readStates(lake);
  // Throws before writing lake.json if another program changed a table. Later commands trust the versions in lake.json.
  refuseForeignChanges(lake, await findForeignChanges(lake, states, before));
  await refreshCatalog(lake, states);
  await writeDurably(lake, join(lake.root, 'lake.json'), writePointer(facts, states));
}

export async function refreshCatalog(lake: Lake, states?: TableState[]): Promise<void> {
  await writeDurably(lake, join(lake.root, 'catalog.sql'), writeCatalog(states ?? (await readStates(lake))));
}

/**
 * Rewrites `catalog.sql` and `lake.json` after a compaction, a crash or damage, and also `ATTRIBUTION.md` if
 * `attributions` is given. The run in `lake.json` stays the same. Does nothing before the first publication.
 */
export async function refreshPointer(lake: Lake, attributions?: Attribution[]): Promise<void> {
  const pointer = await readPointer(lake);
  if (pointer === undefined) return;
  if (attributions !== undefined) await writeCredits(lake, attributions);
  await writePublished(lake, pointer, pointer);
}

/** Builds the text of `lake.json`. Its last member is the SHA-256 of the others, as JSON without line breaks. */
export function writePointer(publication: RunFacts, states: TableState[]): string {
  const { pipeline, runId, runNumber, cursor, at } = publication;
  const tables = states.filter((state) => state.version >= 0n).map((state) => [state.table, describeTable(state)]);
  const pointer = {
    format: 'pricelake',
    version: 1,
    pipeline,
    runId,
    runNumber: Number(runNumber),
    // The cursor is written as text, because it may exceed 2^53, and some JSON parsers would round it.
    cursor: cursor === null ? null : String(cursor),
    at: at.toISOString(),
    tables: Object.fromEntries(tables) as Record<TableName, unknown>,
  };
  const sha256 = createHash('sha256').update(JSON.stringify(pointer)).digest('hex');
  return `${JSON.stringify({ ...pointer, sha256 }, null, 1)}\n`;
}

function describeTable(state: TableState) {
  return {
    version: Number(state.version),
    rows: Number(state.files.reduce((sum, file) => sum + file.rows, 0n)),
    files: state.files.map((file) => ({
      path: `${state.table}/${file.path}`,
      rows: Number(file.rows),
      bytes: file.bytes,
      sha256: file.sha256,
    })),
  };
}

const HEADER = `-- Views over exactly the files that the newest run published. Written by pricelake after every run.
-- Paths are relative, so that the folder can be moved or mounted at another place: run it with the lake as working directory,
--   cd lake && duckdb -init catalog.sql
`;

/**
 * Builds `catalog.sql`. It has a view for each table, and a view of the periods in which each price was valid. DuckDB
 * 1.2 or later can run it.
 */
export function writeCatalog(states: TableState[]): string {
  const views = states.map((state) => {
    const { description } = loadTableSchema(state.table);
    const files = state.files.map((file) => toRelationFile(file, `${state.table}/${file.path}`));
    const relation = tableRelation(state.table, files, state);
    return `\n-- ${description}\nCREATE OR REPLACE VIEW ${quoteIdentifier(state.table)} AS SELECT * FROM ${relation};\n`;
  });
  const spells = `\nCREATE OR REPLACE VIEW price_spells AS\n${readAnalysis('price_spells').trim()};\n`;
  return HEADER + views.join('') + spells;
}
