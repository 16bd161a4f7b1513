import { randomUUID } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { hasSystemCode, PricelakeError } from '../io/errors.js';
import { runSideBySide } from '../io/side-by-side.js';
import { type Roots, TaskPaths } from './task-paths.js';

export const taskFile = z.strictObject({
  /** Below the lake's folder. No file changes under its name. */
  name: z.string(),
  bytes: z.number().int().nonnegative(),
  /** Undefined in a shared folder, where no bytes travel. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
});
/** A file as the other side is told of it. */
export type TaskFile = z.infer<typeof taskFile>;

/** The way of files to a worker and back, as a value that a task carries. It holds no secret. */
export const exchangeAddress = z.discriminatedUnion('kind', [
  /** `mark` is a file in the folder with a name that no other folder has. */
  z.strictObject({ kind: z.literal('folder'), home: z.string(), mark: z.string() }),
  z.strictObject({ kind: z.literal('remote'), home: z.string(), url: z.string(), session: z.uuid() }),
]);
export type ExchangeAddress = z.infer<typeof exchangeAddress>;

/** Bytes that this process has sent and got. */
export interface Traffic {
  sentBytes: number;
  gotBytes: number;
}

/** One end of the way that files take between a run and its workers. */
export interface Exchange {
  readonly roots: Roots;
  readonly traffic: Traffic;
  address(): Promise<ExchangeAddress>;
  /** Makes the folders in which a task writes, where a worker has its own. */
  makeFolders(paths: Iterable<string>): Promise<void>;
  /** Lets the other end get these files of this process. */
  put(paths: Iterable<string>): Promise<TaskFile[]>;
  /** Makes files of the other end readable here. */
  get(files: readonly TaskFile[]): Promise<void>;
  /** Remembers files of the other end that this one only names to others. */
  leave(files: readonly TaskFile[]): Promise<void>;
  /** Ends it, and removes what it holds. */
  close(): Promise<void>;
}

const STATS = 16;

const MOUNT_HINT =
  "Mount the lake's folder under the same path on every machine of the cluster, or set engine.spark.exchange to remote.";

/** A worker's end of a shared folder. @throws PricelakeError `config` where this machine has no such folder, or another one than the run */
export async function joinFolder({ home, mark }: ExchangeAddress & { kind: 'folder' }): Promise<Exchange> {
  if (!(await isThere(mark))) {
    const what = (await isThere(home))
      ? `has another folder as ${home} than the run`
      : `does not see the folder ${home}`;
    throw new PricelakeError('config', `${hostname()}, a machine of the cluster, ${what}`, { hint: MOUNT_HINT });
  }
  return new FolderExchange(home, home);
}

const isThere = async (path: string) => (await sizeOf(path)) !== undefined;

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** A folder that all machines see: nothing travels. */
export class FolderExchange implements Exchange {
  readonly roots: Roots;
  readonly traffic = { sentBytes: 0, gotBytes: 0 };
  readonly #workFolder: string;
  #marked: Promise<ExchangeAddress> | undefined;
  readonly #paths: TaskPaths;
  /** Files of which both ends know. */
  readonly #known = new Map<string, Promise<TaskFile>>();

  /** @param workFolder the run's own, in the lake's folder */
  constructor(root: string, workFolder: string) {
    this.#workFolder = workFolder;
    this.roots = { root, home: root };
    this.#paths = new TaskPaths(this.roots);
  }

  address(): Promise<ExchangeAddress> {
    this.#marked ??= this.#mark();
    return this.#marked;
  }

  /** The run has made them: where it has ended, a late worker must not. */
  async makeFolders(): Promise<void> {}

  put(paths: Iterable<string>): Promise<TaskFile[]> {
    return runSideBySide(STATS, [...paths], (path) => {
      const known = this.#known.get(path) ?? this.#describe(path);
      this.#known.set(path, known);
      return known;
    });
  }

  async get(files: readonly TaskFile[]): Promise<void> {
    await runSideBySide(STATS, files, async ({ name, bytes }) => {
      const path = this.#paths.locate(name);
      const found = await sizeOf(path);
      if (found === bytes) return;
      const what = found === undefined ? 'is not there' : `has ${found} bytes on ${hostname()}, not ${bytes}`;
      throw new PricelakeError('unavailable', `${path} ${what}`, { hint: MOUNT_HINT });
    });
  }

  leave(files: readonly TaskFile[]): Promise<void> {
    return this.get(files);
  }

  async close(): Promise<void> {}

  /** Writes the file by which workers see that the folder is the same there. */
  async #mark(): Promise<ExchangeAddress> {
    const mark = join(this.#workFolder, `mark-${randomUUID()}`);
    await writeFile(mark, '');
    return { kind: 'folder', home: this.roots.home, mark };
  }

  async #describe(path: string): Promise<TaskFile> {
    return { name: this.#paths.name(path), bytes: (await stat(path)).size };
  }
}
