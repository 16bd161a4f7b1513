import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readAttributions, writeAttributions } from '../lake/attribution.js';
import { ignoreMissing, privatePath } from '../lake/layout.js';
import { type Pointer, readPointer } from '../lake/pointer.js';
import type { Proof, Report, VerifyContext } from './proof.js';
import { readApplied } from './read-applied.js';
import type { ReplayedTable } from './replayed-table.js';
import { createReplayedViews } from './table-views.js';

const POINTER = 'lake.json';
const CATALOG = 'catalog.sql';
const ATTRIBUTION = 'ATTRIBUTION.md';

export const pointerProof: Proof = {
  name: 'pointer',
  claims:
    'format.json, lake.json, catalog.sql and ATTRIBUTION.md name the format, run, versions, files, checksums and credits that the lake has.',
  async prove(context, report) {
    await compareMarker(context, report);
    const pointer = await readPointer(context.lake);
    if (pointer === undefined) report({ file: POINTER, what: 'is missing: the next sync writes it' });
    else comparePointer(context, pointer, report);
    await compareCatalog(context, report);
    await compareCredits(context, report);
    return { count: 4n, of: 'files' };
  },
};

async function compareMarker({ lake }: VerifyContext, report: Report): Promise<void> {
  const text = await readFile(privatePath(lake, 'format.json'), 'utf8').catch(ignoreMissing);
  const file = '_pricelake/format.json';
  if (text === undefined) report({ file, what: 'is missing' });
  else if (text.trim() !== '{"format":"pricelake","version":1}') report({ file, what: 'is damaged' });
}

function comparePointer({ tables }: VerifyContext, pointer: Pointer, report: Report): void {
  const number = readApplied(tables.get('runs')).run;
  if (number !== undefined && pointer.runNumber !== number) {
    report({ file: POINTER, what: `names run ${pointer.runNumber}; table runs is of run ${number}` });
  }
  if (/^\d+-/.test(pointer.runId) && Number.parseInt(pointer.runId, 10) !== Number(pointer.runNumber)) {
    report({ file: POINTER, what: `names run ${pointer.runId} as number ${pointer.runNumber}` });
  }
  for (const state of tables.values()) {
    const fail = (what: string) => report({ table: state.table, file: POINTER, what });
    const pointed = pointer.tables[state.table];
    if (pointed === undefined) fail('does not name the table');
    else if (pointed.version !== BigInt(state.version)) fail(`names version ${pointed.version} of ${state.version}`);
    else compareFiles(state, pointed.files, fail);
    const rows = pointed?.files.reduce((sum, file) => sum + file.rows, 0n);
    if (rows !== pointed?.rows) fail(`says ${pointed?.rows} rows; its files have ${rows}`);
  }
  const cursor = readApplied(tables.get('history')).cursor ?? null;
  if (pointer.cursor !== cursor) {
    report({ file: POINTER, what: `has cursor ${pointer.cursor}; history is at ${cursor}` });
  }
}

type PointedFile = NonNullable<Pointer['tables'][keyof Pointer['tables']]>['files'][number];

function compareFiles(state: ReplayedTable, pointed: PointedFile[], fail: (what: string) => void): void {
  const named = new Map(pointed.map((file) => [file.path, file]));
  for (const { path, bytes, sha256, stats } of state.files.values()) {
    const file = named.get(`${state.table}/${path}`);
    if (file === undefined) fail(`does not name ${path}`);
    else {
      const rows = (JSON.parse(stats) as { numRecords?: number }).numRecords;
      const isSame = file.bytes === bytes && file.sha256 === sha256 && Number(file.rows) === rows;
      if (!isSame) fail(`has other rows, bytes or checksum of ${path} than the log`);
    }
    named.delete(`${state.table}/${path}`);
  }
  for (const path of named.keys()) fail(`names ${path}, which the table does not have`);
}

/** Every data file's path is in the catalog as a literal, and no other. */
async function compareCatalog({ lake, tables }: VerifyContext, report: Report): Promise<void> {
  const text = await readFile(join(lake.root, CATALOG), 'utf8').catch(ignoreMissing);
  if (text === undefined) return report({ file: CATALOG, what: 'is missing: the next sync writes it' });
  const literals = [...text.matchAll(/'((?:[^']|'')*\.parquet)'/g)].map(([, path = '']) => path.replaceAll("''", "'"));
  // DuckDB takes `*`, `?` and `[` for patterns; in brackets they are themselves.
  const named = new Set(literals.map((path) => path.replaceAll(/\[([*?[])\]/g, '$1')));
  for (const { table, files } of tables.values()) {
    for (const path of files.keys()) {
      if (!named.delete(`${table}/${path}`)) report({ table, file: CATALOG, what: `does not name ${path}` });
    }
  }
  for (const path of named) report({ file: CATALOG, what: `names ${path}, which no table has` });
}

async function compareCredits(context: VerifyContext, report: Report): Promise<void> {
  await createReplayedViews(context, ['sites']);
  const due = writeAttributions(await readAttributions(context.db, 'sites'));
  const text = await readFile(join(context.lake.root, ATTRIBUTION), 'utf8').catch(ignoreMissing);
  if (text !== due) report({ file: ATTRIBUTION, what: 'does not hold the credits that table sites has' });
}
