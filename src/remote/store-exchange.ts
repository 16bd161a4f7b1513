import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import pLimit from 'p-limit';
import { PricelakeError } from '../io/errors.js';
import { runSideBySide } from '../io/side-by-side.js';
import { hashFile } from '../lake/data-file.js';
import { PRIVATE_FOLDER } from '../tables/layout.js';
import type { Exchange, ExchangeAddress, TaskFile } from '../workers/exchange.js';
import { type Roots, TaskPaths } from '../workers/task-paths.js';
import { limitTime } from './limit-time.js';
import type { ObjectStore } from './object-store.js';
import { CHANGED_HINT } from './s3-fault.js';

/** Objects of runs at work. Those of a run that was killed go when the next one holds the remote. */
export const EXCHANGE_PREFIX = `${PRIVATE_FOLDER}/exchange/`;

/** Files that travel at a time, each way, for all tasks together: what is in memory is that of so many. */
const FILES = 4;
/** The slowest transfer that is waited for: this many milliseconds, and a second for so many bytes. */
const PATIENCE_MS = 120_000;
const BYTES_PER_SECOND = 200_000;

/** A file with its checksum. */
export type SummedFile = TaskFile & { sha256: string };

/** A file that is on the remote under its own name. */
export interface Mirrored {
  /** Bytes that were sent now. */
  sentBytes: number;
  /** As the log of its table has it. */
  sha256?: string | undefined;
}

interface Ends {
  store: ObjectStore;
  address: ExchangeAddress & { kind: 'remote' };
  root: string;
  /** Sends a file that has its own object on the remote, unless it is there. Workers have none. */
  sendMirrored?: ((name: string, path: string) => Promise<Mirrored>) | undefined;
  /** Brings a file to a path; default: by a download. */
  bring?: ((file: SummedFile, path: string, download: Download) => Promise<void>) | undefined;
  /** No further file is sent or fetched once it is aborted. */
  stop?: AbortSignal | undefined;
  close: () => Promise<void>;
}

/** Downloads a file to a new path, and checks it. */
export type Download = (file: SummedFile, path: string) => Promise<void>;

/** Files travel by the lake's remote. Data files of tables and what has landed are read from there as they are. */
export class StoreExchange implements Exchange {
  readonly roots: Roots;
  readonly traffic = { sentBytes: 0, gotBytes: 0 };
  readonly #ends: Ends;
  readonly #paths: TaskPaths;
  /** Files that are on the store, by their paths here. */
  readonly #known = new Map<string, Promise<TaskFile>>();
  readonly #sending = pLimit(FILES);
  readonly #getting = pLimit(FILES);
  #isClosed = false;

  constructor(ends: Ends) {
    this.#ends = ends;
    this.roots = { home: ends.address.home, root: ends.root };
    this.#paths = new TaskPaths(this.roots);
  }

  async address(): Promise<ExchangeAddress> {
    return this.#ends.address;
  }

  async makeFolders(paths: Iterable<string>): Promise<void> {
    for (const path of paths) await mkdir(path, { recursive: true });
  }

  put(paths: Iterable<string>): Promise<TaskFile[]> {
    return runSideBySide(FILES, [...paths], (path) => {
      const known = this.#known.get(path) ?? this.#sending(() => this.#send(path));
      this.#known.set(path, known);
      return known;
    });
  }

  async get(files: readonly TaskFile[]): Promise<void> {
    const bring = this.#ends.bring ?? ((file, path, download) => download(file, path));
    const getOne = async (file: TaskFile) => {
      this.#throwIfEnded();
      const path = this.#paths.locate(file.name);
      await mkdir(dirname(path), { recursive: true });
      await bring(requireSum(file), path, this.#download);
      await this.leave([file]);
    };
    await runSideBySide(FILES, files, (file) => this.#getting(() => getOne(file)));
  }

  async leave(files: readonly TaskFile[]): Promise<void> {
    for (const file of files) this.#known.set(this.#paths.locate(file.name), Promise.resolve(file));
  }

  /** Sends nothing more, and waits for files on their way, which would stay on the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#known.values());
    await this.#ends.close();
  }

  #throwIfEnded(): void {
    this.#ends.stop?.throwIfAborted();
    if (this.#isClosed) throw new Error('the exchange is closed');
  }

  async #send(path: string): Promise<TaskFile> {
    const { store, sendMirrored } = this.#ends;
    this.#throwIfEnded();
    const name = this.#paths.name(path);
    const { size: bytes } = await stat(path);
    const key = this.#keyOf(name);
    const { sentBytes, sha256 } = await limitTransfer(store, key, bytes, async (): Promise<Mirrored> => {
      if (key === name && sendMirrored !== undefined) return sendMirrored(name, path);
      await store.upload(key, path, bytes);
      return { sentBytes: bytes };
    });
    this.traffic.sentBytes += sentBytes;
    return { name, bytes, sha256: sha256 ?? (await hashFile(path)) };
  }

  #download: Download = async ({ name, bytes, sha256 }, path) => {
    const { store } = this.#ends;
    const key = this.#keyOf(name);
    const temporary = `${path}.${randomUUID()}`;
    try {
      const found = await limitTransfer(store, key, bytes, () => store.download(key, temporary, bytes));
      this.traffic.gotBytes += bytes;
      if (found !== sha256) {
        const what = `${store.url}/${key}: has SHA-256 ${found}, but its writer said ${sha256}`;
        throw new PricelakeError('lake_invalid', what, { hint: CHANGED_HINT });
      }
      await rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
  };

  /** Files of tables and of the landing are on the remote under their names; all others are of this exchange. */
  #keyOf(name: string): string {
    return isMirrored(name) ? name : `${EXCHANGE_PREFIX}${this.#ends.address.session}/${name}`;
  }
}

const MIRRORED = ['landing', 'backfill'].map((folder) => `${PRIVATE_FOLDER}/${folder}/`);

/** True for files that the remote has, or gets, under their own names. */
function isMirrored(name: string): boolean {
  return !name.startsWith(`${PRIVATE_FOLDER}/`) || MIRRORED.some((folder) => name.startsWith(folder));
}

export async function removeBelow(store: ObjectStore, prefix: string): Promise<void> {
  await store.remove((await store.list(prefix)).map(({ key }) => key));
}

function requireSum({ sha256, ...file }: TaskFile): SummedFile {
  if (sha256 === undefined) throw new Error(`${file.name} came without a checksum`);
  return { ...file, sha256 };
}

/** @throws PricelakeError `unavailable` for a transfer that takes too long */
function limitTransfer<T>(store: ObjectStore, key: string, bytes: number, work: () => Promise<T>): Promise<T> {
  return limitTime(`${store.url}/${key}: not done`, PATIENCE_MS + (bytes / BYTES_PER_SECOND) * 1000, work);
}
