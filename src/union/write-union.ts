import { selectDailySpreads } from '../analyze/daily-spread.js';
import { listDerived, selectDerived } from '../analyze/derived-tables.js';
import { type Attribution, describeAttributions, readAttributions } from '../lake/attribution.js';
import { type CommitInfo, commitTable } from '../lake/commit.js';
import { fillEmptyTables } from '../lake/fill-empty-tables.js';
import { writeMarker } from '../lake/lake.js';
import { publishPointer } from '../lake/publish.js';
import { type Stage, stageTable } from '../lake/stage.js';
import { createTableView, createTableViews } from '../lake/views.js';
import type { Database } from '../sql/connection.js';
import { RelationGraph } from '../sql/graph.js';
import type { Source } from '../sql/model.js';
import { code, columnsOf, itself, join, type Sql, sql } from '../sql/sql.js';
import type { Lake } from '../tables/layout.js';
import { type StagedFile, TABLE_NAMES, type TableName } from '../tables/table.js';
import type { Member } from './members.js';
import { bindUnion } from './queries.js';

/** The number of listings to process at a time, so that memory use doesn't depend on the size of the lakes. */
const PART_LISTINGS = 250_000n;
const DAY_MS = 86_400_000;

/**
 * The layouts of large tables. Such a table is written in slices by one column, and each slice reads only its own rows.
 * History isn't partitioned by day, because several lakes would then have too many files.
 */
const LAYOUTS: Partial<Record<TableName, Pick<Stage, 'partitionBy' | 'sliceBy' | 'mostPartitions'>>> = {
  items: { mostPartitions: () => 500 },
  history: { partitionBy: [], sliceBy: 'observed_date' },
  offers: { sliceBy: 'site_id' },
};

/**
 * Writes the union into an empty folder, as if one run had published it. Each listing, change, website, source and
 * dataset occurs once (pipelines/union). The derived tables are computed by the same queries as in other lakes.
 */
export async function writeUnion(db: Database, lake: Lake, members: readonly Member[]): Promise<void> {
  // The union is only as current as its oldest lake, so it has that lake's time.
  const at = new Date(Math.min(...members.map(({ pointer }) => pointer.at.getTime())));
  const runId = `000001-${at.toISOString().slice(0, 19).replaceAll(/[-:]/gu, '')}Z`;
  await writeMarker(lake);
  await createMemberViews(db, members);
  const writer = new TableWriter(db, lake, { runId, operation: 'UNION', at });
  await writer.write('sites', [bindUnion('sites', { all_sites: all('sites') })]);
  await writer.readCredits();
  await writeListings(db, writer);
  await writeFacts(writer, members);
  await writeDerived(db, writer, runId);
  await writeDays(db, writer, members, runId);
  await writeLedger(db, writer, members, runId);
  await fillEmptyTables(db, lake, { commit: writer.commit, metadata: describeAttributions(writer.credits) });
  const names = [...new Set(members.map(({ pointer }) => pointer.pipeline))];
  await publishPointer(lake, {
    ...{ pipeline: names.join(', '), runId, runNumber: 1n, at, attributions: writer.credits },
    cursor: findCursor(members),
  });
}

/** Selects the rows of a table in all lakes, with the number of the lake for each row. */
const all = (table: TableName): Sql => itself(`all_${table}`);

async function createMemberViews(db: Database, members: readonly Member[]): Promise<void> {
  for (const table of TABLE_NAMES) {
    const parts: Sql[] = [];
    for (const [number, { lake, states }] of members.entries()) {
      const name = `lake_${number}_${table}`;
      await createTableViews(db, lake, [table], async () => states[table]);
      await db.run(`ALTER VIEW ${table} RENAME TO ${name}`);
      parts.push(sql`SELECT ${BigInt(number)} AS lake, * FROM ${code(name)}`);
    }
    await db.run(`CREATE VIEW all_${table} AS ${join(parts, ' UNION ALL ').text}`);
  }
}

/** Writes the tables of the union. Creates a view of each table, which the queries of later tables read. */
class TableWriter {
  readonly commit: CommitInfo;
  credits: Attribution[] = [];
  readonly #db: Database;
  readonly #lake: Lake;

  constructor(db: Database, lake: Lake, commit: CommitInfo) {
    this.#db = db;
    this.#lake = lake;
    this.commit = commit;
  }

  async write(table: TableName, selects: Iterable<Sql> | AsyncIterable<Sql>): Promise<void> {
    const add: StagedFile[] = [];
    const metadata = describeAttributions(this.credits);
    for await (const { text } of selects) {
      const stage = { table, runId: this.commit.runId, select: text, metadata, ...LAYOUTS[table] };
      add.push(...(await stageTable(this.#db, this.#lake, stage)));
    }
    await commitTable(this.#lake, { table, add, remove: [], applied: { run: 1n } }, this.commit);
    await createTableView(this.#db, this.#lake, table, table);
  }

  /** Reads the license texts of the websites. All tables that are written later contain these texts in their files. */
  async readCredits(): Promise<void> {
    this.credits = await readAttributions(this.#db, 'sites');
  }
}

async function writeListings(db: Database, writer: TableWriter): Promise<void> {
  const leftItems = bindUnion('left_items', { all_items: all('items') });
  await db.run(`CREATE TABLE left_items AS ${leftItems.text}`);
  await writer.write('items', [
    sql`SELECT ${columnsOf('items')} FROM main.all_items ANTI JOIN main.left_items USING (lake, item_id)`,
  ]);
  // An item counts as stale if the lake from which its row is taken lists it as stale.
  await writer.write('stale_items', [
    sql`SELECT ${columnsOf('stale_items')} FROM main.all_stale_items ANTI JOIN main.left_items USING (lake, item_id)
      QUALIFY row_number() OVER (PARTITION BY item_id ORDER BY first_read_at, lake) = 1`,
  ]);
  const leftHistory = bindUnion('left_history', { all_history: all('history') });
  await db.run(`CREATE TABLE left_history AS ${leftHistory.text}`);
  await writer.write('history', [
    sql`SELECT ${columnsOf('history')} FROM main.all_history AS h ANTI JOIN main.left_history AS l
      ON l.lake = h.lake AND l.change_id IS NOT DISTINCT FROM h.change_id AND l.item_id IS NOT DISTINCT FROM h.item_id
        AND l.observed_at = h.observed_at AND l.kind = h.kind`,
  ]);
}

async function writeFacts(writer: TableWriter, members: readonly Member[]): Promise<void> {
  await writer.write('sources', [bindUnion('sources', { all_sources: all('sources') })]);
  for (const [table, key] of [
    ['datasets', 'dataset_id'],
    ['service_products', 'service_id'],
  ] as const) {
    await writer.write(table, [
      sql`SELECT ${columnsOf(table)} FROM (${all(table)})
        QUALIFY row_number() OVER (PARTITION BY ${code(key)} ORDER BY read_at DESC, lake) = 1`,
    ]);
  }
  // The rules and matches of pipeline files are taken from the lake that was published last.
  const newest = members.reduce(
    (last, { pointer }, index) => (pointer.at > (members[last]?.pointer.at ?? 0) ? index : last),
    0,
  );
  for (const table of ['offer_rules', 'user_matches'] as const) {
    await writer.write(table, [sql`SELECT ${columnsOf(table)} FROM (${all(table)}) WHERE lake = ${BigInt(newest)}`]);
  }
  await writer.write('rejects', [sql`SELECT DISTINCT ${columnsOf('rejects')} FROM (${all('rejects')})`]);
}

async function writeDerived(db: Database, writer: TableWriter, runId: string): Promise<void> {
  const row = await db.row('SELECT count(*) AS items FROM items');
  const parts = ((row?.items as bigint | undefined) ?? 0n) / PART_LISTINGS + 1n;
  for (const one of listDerived()) {
    const ofPart =
      (part: bigint) =>
      (name: TableName): [TableName, Source] => {
        const isParted = one.by === 'product' && (name === 'items' || name === 'offers') && parts > 1n;
        const rows = itself(name);
        return [name, isParted ? sql`${rows} WHERE hash(product_id) % ${parts} = ${part}` : rows];
      };
    const numbers = one.by === 'product' ? [...Array(Number(parts)).keys()].map(BigInt) : [0n];
    await writer.write(
      one.table,
      numbers.map((part) => selectDerived(one, Object.fromEntries(one.reads.map(ofPart(part))), runId)),
    );
  }
}

/** Writes the days that every lake has closed, starting with the first day that any lake has. */
async function writeDays(db: Database, writer: TableWriter, members: readonly Member[], runId: string): Promise<void> {
  const marks = members.map(({ states }) => states.price_spread_daily.applied);
  const closed = marks.map((applied) => applied.day);
  const begun = marks.flatMap((applied) => (applied.firstDay === undefined ? [] : [applied.firstDay]));
  const [first, last] = [min(begun), min(closed)];
  if (first === undefined || last === undefined || last === 0n || first > last) return;
  const tables = { items: itself('items'), history: itself('history'), sites: itself('sites') };
  const days = { first: formatDay(first), last: formatDay(last), runId };
  await writer.write('price_spread_daily', selectDailySpreads(new RelationGraph(db), tables, days));
}

async function writeLedger(
  db: Database,
  writer: TableWriter,
  members: readonly Member[],
  runId: string,
): Promise<void> {
  const row = await db.row('SELECT count(*) AS items FROM items');
  const items = (row?.items as bigint | undefined) ?? 0n;
  const lakes = BigInt(members.length);
  await writer.write('check_results', [
    bindUnion('check_results', { all_check_results: all('check_results') }, { lakes, run_id: runId }),
  ]);
  await writer.write('runs', [bindUnion('runs', { all_runs: all('runs') }, { items, run_id: runId })]);
}

/** Returns the union's cursor: the smallest cursor of the lakes; null if any lake has no cursor. */
function findCursor(members: readonly Member[]): bigint | null {
  const cursors = members.map(({ pointer }) => pointer.cursor);
  return cursors.some((cursor) => cursor === null) ? null : (min(cursors.flatMap((cursor) => cursor ?? [])) ?? null);
}

const min = (numbers: readonly bigint[]): bigint | undefined =>
  numbers.reduce<bigint | undefined>((least, one) => (least === undefined || one < least ? one : least), undefined);

const formatDay = (day: bigint) => new Date(Number(day) * DAY_MS).toISOString().slice(0, 10);
