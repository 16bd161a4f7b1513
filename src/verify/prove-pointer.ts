import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import { PRICELAKE_VERSION } from '../io/package-path.js';
import { readAttributions, writeAttributions } from '../lake/attribution.js';
import { MARKER } from '../lake/lake.js';
import { type Pointer, readPointer } from '../lake/pointer.js';
import { writeCatalog, writePointer } from '../lake/publish.js';
import { readTable } from '../lake/read.js';
import { privatePath } from '../tables/layout.js';
import { TABLE_NAMES, type TableState } from '../tables/table.js';
import { createReplayedViews, type Proof, type Report, readApplied, type VerifyContext } from './proof.js';
import type { ReplayedTable } from './replayed-table.js';

const POINTER = 'lake.json';
const CATALOG = 'catalog.sql';
const ATTRIBUTION = 'ATTRIBUTION.md';

export const pointerProof: Proof = {
  name: 'pointer',
  claims:
    'format.json, lake.json, catalog.sql and ATTRIBUTION.md match the format, run, versions, files, checksums and credits of the lake.',
  next: '`pricelake sync` rewrites lake.json, catalog.sql and ATTRIBUTION.md; `pricelake lake rebuild` also rewrites unreadable files, and format.json.',
  async prove(context, report) {
    await compareMarker(context, report);
    if (context.tables.size === 0 && (await readPointer(context.lake).catch(() => 'damaged')) === undefined)
      return { count: 1n, of: 'files', notes: ['no run has published yet; the first one writes lake.json'] };
    const states = await readOwnStates(context);
    await comparePointer(context, states, report);
    await compareCatalog(context, states, report);
    await compareCredits(context, report);
    const notes = states === undefined ? [NOT_COMPARED] : [];
    return { count: 4n, of: 'files', notes };
  },
};

/**
 * Reads the tables with the code that runs use, to compute the expected text of lake.json and catalog.sql. Returns
 * undefined if a log is damaged, or if a pricelake version whose text may differ wrote the files.
 */
async function readOwnStates(context: VerifyContext): Promise<TableState[] | undefined> {
  try {
    const states = await Promise.all(TABLE_NAMES.map((table) => readTable(context.lake, table)));
    const isKnown = ({ version, difference }: TableState) =>
      version >= 0n && Object.values(difference).every(({ length }) => length === 0);
    if (!states.every(isKnown)) return undefined;
    await createReplayedViews(context, ['runs']);
    const last = await context.db.row('SELECT pricelake_version AS version FROM runs ORDER BY run_number DESC LIMIT 1');
    return last?.version === PRICELAKE_VERSION ? states : undefined;
  } catch {
    return undefined; // the checks `logs` and `files` report the reason
  }
}

async function compareMarker({ lake }: VerifyContext, report: Report): Promise<void> {
  const text = await readFile(privatePath(lake, 'format.json'), 'utf8').catch(ignoreMissing);
  const file = '_pricelake/format.json';
  if (text === undefined) report({ file, what: 'is missing' });
  else if (text.trim() !== MARKER.trim()) report({ file, what: 'is damaged' });
}

async function comparePointer(context: VerifyContext, states: TableState[] | undefined, report: Report): Promise<void> {
  const text = await readFile(join(context.lake.root, POINTER), 'utf8').catch(ignoreMissing);
  if (text === undefined) return report({ file: POINTER, what: 'is missing' });
  const pointer = await readPointer(context.lake).catch((error: unknown) => {
    if (!(error instanceof PricelakeError)) throw error;
  });
  if (pointer === undefined) return report({ file: POINTER, what: "can't be read" });
  const isOther = states !== undefined && text !== writePointer(pointer, states);
  reportDifferences(POINTER, isOther, report, (note) => comparePointed(context, pointer, note));
}

/** Reports the differences that `compare` finds. If it finds none in a file that differs, reports only this fact. */
function reportDifferences(file: string, isOther: boolean, report: Report, compare: (note: Report) => void): void {
  let isNamed = false;
  compare((finding) => {
    isNamed = true;
    report(finding);
  });
  const what = 'is not the text that pricelake writes for these tables: it was cut or changed';
  if (isOther && !isNamed) report({ file, what });
}

const NOT_COMPARED =
  'the text of lake.json and catalog.sql was not compared: another version wrote them, or tables are damaged';

function comparePointed({ tables }: VerifyContext, pointer: Pointer, report: Report): void {
  const number = readApplied(tables.get('runs')).run;
  if (number !== undefined && pointer.runNumber !== number) {
    report({ file: POINTER, what: `lists run ${pointer.runNumber}, but the runs table is at run ${number}` });
  }
  if (/^\d+-/.test(pointer.runId) && Number.parseInt(pointer.runId, 10) !== Number(pointer.runNumber)) {
    report({ file: POINTER, what: `lists run ${pointer.runId} with number ${pointer.runNumber}` });
  }
  for (const state of tables.values()) {
    const fail = (what: string) => report({ table: state.table, file: POINTER, what });
    const pointed = pointer.tables[state.table];
    if (pointed === undefined) fail("doesn't list the table");
    else if (pointed.version !== BigInt(state.version))
      fail(`lists version ${pointed.version}, but the table is at version ${state.version}`);
    else compareFiles(state, pointed.files, fail);
    const rows = pointed?.files.reduce((sum, file) => sum + file.rows, 0n);
    if (rows !== pointed?.rows) fail(`records ${pointed?.rows} rows, but its files have ${rows}`);
  }
  const cursor = readApplied(tables.get('history')).cursor ?? null;
  if (pointer.cursor !== cursor) {
    report({ file: POINTER, what: `has cursor ${pointer.cursor}, but history is at ${cursor}` });
  }
}

type PointedFile = NonNullable<Pointer['tables'][keyof Pointer['tables']]>['files'][number];

function compareFiles(state: ReplayedTable, pointed: PointedFile[], fail: (what: string) => void): void {
  const named = new Map(pointed.map((file) => [file.path, file]));
  for (const { path, bytes, sha256, stats } of state.files.values()) {
    const file = named.get(`${state.table}/${path}`);
    if (file === undefined) fail(`doesn't list ${path}`);
    else {
      const rows = (JSON.parse(stats) as { numRecords?: number }).numRecords;
      const isSame = file.bytes === bytes && file.sha256 === sha256 && Number(file.rows) === rows;
      if (!isSame) fail(`records different rows, bytes or a different checksum for ${path} than the log`);
    }
    named.delete(`${state.table}/${path}`);
  }
  for (const path of named.keys()) fail(`names ${path}, which the table doesn't have`);
}

async function compareCatalog(
  { lake, tables }: VerifyContext,
  states: TableState[] | undefined,
  report: Report,
): Promise<void> {
  const text = await readFile(join(lake.root, CATALOG), 'utf8').catch(ignoreMissing);
  if (text === undefined) return report({ file: CATALOG, what: 'is missing' });
  const isOther = states === undefined ? isCut(text, tables) : text !== writeCatalog(states);
  reportDifferences(CATALOG, isOther, report, (note) => compareLiterals(text, tables, note));
}

/** True if catalog.sql was cut off. Called only if its expected text isn't known. */
function isCut(text: string, tables: VerifyContext['tables']): boolean {
  const views = new Set([...text.matchAll(/^CREATE OR REPLACE VIEW "?(\w+)/gm)].map(([, name]) => name));
  return !text.endsWith(';\n') || [...tables.keys()].some((table) => !views.has(table));
}

/** Compares the paths in the catalog with those of the data files. */
function compareLiterals(text: string, tables: VerifyContext['tables'], report: Report): void {
  const literals = [...text.matchAll(/'((?:[^']|'')*\.parquet)'/g)].map(([, path = '']) => path.replaceAll("''", "'"));
  // The catalog encloses `*`, `?` and `[` in `[]`, because DuckDB would otherwise read the path as a pattern.
  const named = new Set(literals.map((path) => path.replaceAll(/\[([*?[])\]/g, '$1')));
  for (const { table, files } of tables.values()) {
    for (const path of files.keys()) {
      if (!named.delete(`${table}/${path}`)) report({ table, file: CATALOG, what: `doesn't contain ${path}` });
    }
  }
  for (const path of named) report({ file: CATALOG, what: `names ${path}, which no table has` });
}

async function compareCredits(context: VerifyContext, report: Report): Promise<void> {
  await createReplayedViews(context, ['sites']);
  const due = writeAttributions(await readAttributions(context.db, 'sites'));
  const text = await readFile(join(context.lake.root, ATTRIBUTION), 'utf8').catch(ignoreMissing);
  if (text !== due) report({ file: ATTRIBUTION, what: "doesn't have the credits in table sites" });
}
