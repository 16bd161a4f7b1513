import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { runSideBySide } from '../io/side-by-side.js';
import type { Database } from '../sql/connection.js';
import { quoteLiteral } from '../sql/quote.js';
import type { Lake } from '../tables/layout.js';
import { loadTableSchema, type TableSchema } from '../tables/schemas.js';
import type { StagedFile, TableName } from '../tables/table.js';
import { sealDataFile } from './data-file.js';
import { nameDataFile } from './file-name.js';
import { readFileStatistics } from './footer-statistics.js';
import { writeFileOptions } from './slice.js';
import type { GroupChange, Splice } from './splice.js';
import { GROUP_ROWS } from './splice-candidates.js';
import { type GroupPart, type ParquetFile, readParquet, writeSplicedFile } from './splice-file.js';
import { planFolder, type WrittenFiles } from './stage.js';
import { writeStats } from './stats.js';

interface SpliceStage {
  table: TableName;
  runId: string;
  splices: readonly Splice[];
  metadata: Record<string, string>;
}

/** Files that are spliced at once: as many as statements run side by side on one thread each. */
const CONCURRENCY = 2;
/** More rows than a row group has: columns that replace others come in one. */
const ALL_ROWS = 1_000_000_000;

/**
 * Writes spliced files under `_pricelake/staging/<runId>/<table>/`, as `beginStage` does whole ones: only the new values are
 * encoded. A file that has no rows left is left out.
 * @throws PricelakeError `lake_invalid` when a file fails its check
 */
export async function beginSplices(db: Database, lake: Lake, stage: SpliceStage): Promise<WrittenFiles> {
  const schema = loadTableSchema(stage.table);
  const { folder, within } = planFolder(lake, stage);
  return within(async () => {
    await mkdir(folder, { recursive: true });
    const names = await nameFiles(db, stage.splices.length);
    const numbered = stage.splices.map((splice, index) => ({ splice, name: names[index] as string }));
    const files = await runSideBySide(CONCURRENCY, numbered, ({ splice, name }) =>
      db.inLane(() => writeSplice(db, schema, { ...stage, splice, folder, name })),
    );
    const written = files.filter((file) => file.rows > 0n);
    const columns = schema.columns.map(({ name }) => name);
    const sealed = within(() =>
      runSideBySide(CONCURRENCY, written, async (file) => {
        const sha256 = await sealDataFile(file.stagedAt, { rows: file.rows, bytes: file.bytes, columns });
        return { ...file, sha256 };
      }),
    );
    sealed.catch(() => {}); // the caller gets the error from `sealed`
    return { files: written, sealed };
  });
}

/** Names as those of the files that DuckDB names. */
async function nameFiles(db: Database, count: number): Promise<string[]> {
  const rows = await db.rows(`SELECT uuidv7()::VARCHAR AS name FROM range(${BigInt(count)})`);
  return rows.map(({ name }) => `${name}.parquet`);
}

async function writeSplice(
  db: Database,
  schema: TableSchema,
  stage: SpliceStage & { splice: Splice; folder: string; name: string },
): Promise<StagedFile> {
  const { file, path: source, groups } = stage.splice;
  const stagedAt = path.join(stage.folder, stage.name);
  const written: ParquetFile[] = [];
  try {
    const base = await readParquet(source);
    const changed = new Map<number, GroupPart>();
    for (const change of groups) {
      const from = await readParquet(await writeGroup(db, stage, change));
      const { group } = change;
      written.push(from);
      changed.set(group, change.isWhole ? { kind: 'rows', from } : { kind: 'columns', group, from });
    }
    const parts = base.footer.groups.map((_, group) => changed.get(group) ?? ({ kind: 'kept', group } as const));
    const newest = written.at(-1) ?? base;
    const { footer, bytes } = await writeSplicedFile(stagedAt, base, parts, newest);
    const rows = footer.groups.reduce((sum, group) => sum + BigInt(group.rows), 0n);
    const statistics = await readFileStatistics(db, schema, { path: stagedAt, footer });
    return {
      stagedAt,
      path: nameDataFile(file.partitionValues, stage.name),
      rows,
      bytes,
      partitionValues: file.partitionValues,
      stats: writeStats(schema, Object.keys(file.partitionValues), rows, statistics),
      modifiedAt: Date.now(),
    };
  } finally {
    for (const one of written) await rm(one.path);
  }
}

/** Writes the new values of a row group to a file of their own. */
async function writeGroup(
  db: Database,
  stage: SpliceStage & { folder: string; name: string },
  { group, isWhole, rows }: GroupChange,
): Promise<string> {
  const target = path.join(stage.folder, `${group}-of-${stage.name}`);
  const options = writeFileOptions(stage, isWhole ? GROUP_ROWS : ALL_ROWS);
  await db.run(`COPY (${rows.text}\n) TO ${quoteLiteral(target)} (${options})`);
  return target;
}
