import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import pLimit from 'p-limit';
import { PricelakeError } from '../io/errors.js';
import { runSideBySide, settleAll } from '../io/side-by-side.js';
import { removeBusyFolder } from '../io/temporary-folder.js';
import type { Database } from '../sql/connection.js';
import { code } from '../sql/sql.js';
import { type Lake, privatePath } from '../tables/layout.js';
import { loadTableSchema, type TableSchema } from '../tables/schemas.js';
import type { StagedFile } from '../tables/table.js';
import { explainMemory } from './faults.js';
import { checkColumns, type FileForm, type SliceForm, sealFile, writeSlice } from './slice.js';
import { narrow, type Parting, planStage } from './slices.js';

export interface Stage extends Parting, FileForm {
  /** The columns to partition by; defaults to the columns given in schemas/<table>.yaml. */
  partitionBy?: string[];
  inLanes?: boolean;
}

const CONCURRENCY = 8;

/** The files that were written. `sealed` resolves to them, with checksums, after all files are synced and read back. */
export interface WrittenFiles {
  files: StagedFile[];
  sealed: Promise<StagedFile[]>;
}

/**
 * Writes the rows of `select`, without casting, as Parquet files under `_pricelake/staging/<runId>/<table>/`, for
 * `commitTable`. Syncs the files and reads them back. If there are no rows, writes a file only if `keepsEmpty` is true.
 * @throws PricelakeError `lake_invalid` if the columns differ from the table's or a file fails its check, `config` if a
 * partition value can't be stored
 */
export async function stageTable(db: Database, lake: Lake, stage: Stage): Promise<StagedFile[]> {
  const { sealed } = await beginStage(db, lake, stage);
  return sealed;
}

/** Stages like `stageTable`, but returns before the files are synced and read back. The caller must await `sealed`. */
export async function beginStage(db: Database, lake: Lake, stage: Stage): Promise<WrittenFiles> {
  const schema = loadTableSchema(stage.table);
  const partitionBy = stage.partitionBy ?? schema.partitionBy;
  checkPartitionColumns(schema, partitionBy);
  const { folder, within } = planFolder(lake, stage);
  const { files, sealing } = await within(() => writeFiles(db, schema, stage, partitionBy, folder));
  const sealed = within(() => settleAll(sealing));
  sealed.catch(() => {}); // the caller handles the error from `sealed`
  return { files, sealed };
}

interface StageFolder {
  folder: string;
  /** Runs `work` on the folder's files. Deletes the folder if `work` fails. */
  within<T>(work: () => Promise<T>): Promise<T>;
}

/** Chooses a new folder for the files of one call. If writing them fails, the whole folder can be deleted. */
export function planFolder(lake: Lake, { table, runId }: Pick<Stage, 'table' | 'runId'>): StageFolder {
  const folder = privatePath(lake, 'staging', runId, table, randomUUID());
  return {
    folder,
    async within(work) {
      try {
        return await explainMemory(`${table}: writing the rows`, work);
      } catch (error) {
        await removeBusyFolder(folder);
        throw error;
      }
    },
  };
}

async function writeFiles(db: Database, schema: TableSchema, stage: Stage, wanted: string[], folder: string) {
  await mkdir(folder, { recursive: true });
  await checkColumns(db, schema, stage.select);
  const { partitionBy, texts, slices } = await planStage(db, schema, stage, wanted);
  const { table, runId, metadata, keepsEmpty, targetBytes, inLanes = false } = stage;
  const form: SliceForm = { table, runId, metadata, keepsEmpty, targetBytes, partitionBy, texts, folder };
  const select = code(stage.select);
  const limit = pLimit(CONCURRENCY);
  const files: StagedFile[] = [];
  const sealing: Promise<StagedFile>[] = [];
  const write = async (predicate: string | undefined) => {
    for (const file of await writeSlice(db, form, narrow(select, predicate).text)) {
      const sealed = limit(() => sealFile(schema, file));
      sealed.catch(() => {}); // the error is thrown where all files are awaited
      files.push(file);
      sealing.push(sealed);
    }
  };
  try {
    await runSideBySide(inLanes ? slices.length : 1, slices, (predicate) =>
      inLanes && slices.length > 1 ? db.inLane(() => write(predicate)) : write(predicate),
    );
  } catch (error) {
    await Promise.allSettled(sealing);
    throw error;
  }
  return { files, sealing };
}

function checkPartitionColumns(schema: TableSchema, partitionBy: string[]): void {
  for (const name of partitionBy) {
    const column = schema.columns.find((column) => column.name === name);
    if (column !== undefined && column.type !== 'VARCHAR[]') continue;
    const names = schema.columns.filter((column) => column.type !== 'VARCHAR[]').map((column) => column.name);
    throw new PricelakeError(
      'config',
      `can't partition ${schema.table} by "${name}" (partitionBy); choose from ${names.join(', ')}`,
    );
  }
}
