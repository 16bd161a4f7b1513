import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { type RemoteUrl, showRemoteUrl } from '../../formats/remote-url.js';
import { PricelakeError } from '../../io/errors.js';
import { quotePath } from '../../io/inner-path.js';
import type { Io } from '../../io/io.js';
import { runSideBySide } from '../../io/side-by-side.js';
import { type ListedObject, type ObjectStore, SMALL_BYTES, type StoredObject } from './object-store.js';
import { createS3Client, type LoadSdk, loadSdk, type Sdk } from './s3-client.js';
import { CHANGED_HINT, explainFault, isPassing, nameOf, statusOf } from './s3-fault.js';

const PART_BYTES = 16 * 1024 * 1024;
/** The number of parts of a file to upload in parallel. With four files in parallel, they need up to 128 MB of RAM. */
const PARTS = 2;
const REMOVALS = 16;
/** These limits prevent a list of objects from exhausting the memory. */
const MOST_LISTED = 1_000_000;
const MOST_PAGES = 20_000;
/** The maximum number of attempts. The pauses between seven attempts add up to 6 to 19 seconds. */
const ATTEMPTS = 7;
/** The maximum number of attempts for each part of a file. The SDK retries only the part that failed. */
const PART_ATTEMPTS = 5;

interface S3Options {
  load?: LoadSdk;
  silenceMs?: number;
}

export async function openS3Store(url: RemoteUrl, io: Io, options: S3Options = {}): Promise<ObjectStore> {
  const { load = loadSdk, silenceMs } = options;
  return new S3Store(url, await load(), io, silenceMs);
}

class S3Store implements ObjectStore {
  readonly url: string;
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #uploader: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #io: Io;

  constructor(url: RemoteUrl, sdk: Sdk, io: Io, silenceMs: number | undefined) {
    this.url = showRemoteUrl(url);
    this.#sdk = sdk;
    this.#client = createS3Client(sdk, url, { attempts: 1, silenceMs });
    this.#uploader = createS3Client(sdk, url, { attempts: PART_ATTEMPTS, silenceMs });
    this.#bucket = url.bucket;
    this.#prefix = url.prefix === '' ? '' : `${url.prefix}/`;
    this.#io = io;
  }

  async read(key: string, maxBytes = SMALL_BYTES): Promise<StoredObject | undefined> {
    return this.#attempt(`read ${key}`, async () => {
      const answer = await this.#get(key);
      if (answer === undefined) return undefined;
      const bytes = Buffer.concat(await collect(this.#readBody(key, answer, maxBytes)));
      const writtenAt = answer.LastModified ?? this.#io.now();
      return { bytes, writtenAt, readAt: readDate(answer) ?? this.#io.now() };
    });
  }

  async write(key: string, bytes: Buffer): Promise<void> {
    await this.#attempt(`write ${key}`, () => this.#put(key, bytes));
  }

  async create(key: string, bytes: Buffer): Promise<boolean> {
    return this.#attempt(`create ${key}`, async () => {
      try {
        await this.#put(key, bytes, '*');
        return true;
      } catch (error) {
        if (statusOf(error) === 412) return false;
        throw error; // 409: another writer is creating the object, so #attempt tries again
      }
    });
  }

  async upload(key: string, path: string, bytes: number): Promise<void> {
    await this.#attempt(`upload ${key}`, async () => {
      if (bytes <= PART_BYTES) return this.#put(key, (await readFile(path)).subarray(0, bytes));
      const body = createReadStream(path, { end: bytes - 1 });
      const upload = new this.#sdk.storage.Upload({
        client: this.#uploader,
        params: { Bucket: this.#bucket, Key: this.#prefix + key, Body: body, ChecksumAlgorithm: 'CRC32' },
        partSize: PART_BYTES,
        queueSize: PARTS,
      });
      await upload.done().catch(async (error: unknown) => {
        // If only the response to the last request was lost, the parts are gone, but the object exists.
        if (nameOf(error) !== 'NoSuchUpload' || (await this.#sizeOf(key)) !== bytes) throw error;
      });
    });
  }

  async download(key: string, path: string, maxBytes: number): Promise<string> {
    return this.#attempt(`download ${key}`, async () => {
      const answer = await this.#get(key);
      if (answer === undefined)
        throw Object.assign(new Error(), { name: 'NoSuchKey', $metadata: { httpStatusCode: 404 } });
      const hash = createHash('sha256');
      const file = await open(path, 'w');
      try {
        for await (const chunk of this.#readBody(key, answer, maxBytes)) {
          hash.update(chunk);
          await file.writeFile(chunk);
        }
        await file.sync();
      } catch (error) {
        await rm(path, { force: true });
        throw error;
      } finally {
        await file.close();
      }
      return hash.digest('hex');
    });
  }

  async list(prefix: string, limit = Number.POSITIVE_INFINITY): Promise<ListedObject[]> {
    return this.#attempt(`list ${prefix}`, async () => {
      const found: ListedObject[] = [];
      const input = { Bucket: this.#bucket, Prefix: this.#prefix + prefix };
      let pages = 0;
      for await (const page of this.#sdk.s3.paginateListObjectsV2({ client: this.#client }, input)) {
        pages += 1;
        for (const { Key = '', Size = 0, LastModified = this.#io.now() } of page.Contents ?? []) {
          if (!Key.startsWith(input.Prefix)) throw this.#refuse(prefix, `the store's list contains ${quotePath(Key)}`);
          found.push({ key: Key.slice(this.#prefix.length), bytes: Size, writtenAt: LastModified });
        }
        if (found.length >= limit) break;
        if (found.length > MOST_LISTED || pages > MOST_PAGES)
          throw this.#refuse(prefix, 'the list of objects is too long');
      }
      return found.sort((a, b) => (a.key < b.key ? -1 : 1));
    });
  }

  async remove(keys: readonly string[]): Promise<void> {
    // Objects are deleted one by one, because some stores don't support a request that deletes several objects.
    await runSideBySide(REMOVALS, keys, (key) =>
      this.#attempt(`remove ${key}`, () =>
        this.#client.send(new this.#sdk.s3.DeleteObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + key })),
      ),
    );
  }

  close(): void {
    this.#client.destroy();
    this.#uploader.destroy();
  }

  /** Yields the content of an object. @throws PricelakeError `lake_invalid` if the object is larger than `maxBytes` */
  async *#readBody(key: string, answer: GetObjectCommandOutput, maxBytes: number): AsyncGenerator<Buffer> {
    const { ContentLength: announced } = answer;
    const tooLong = () => this.#refuse(key, `is larger than the expected ${maxBytes} bytes`);
    const body = answer.Body as Readable;
    let bytes = 0;
    try {
      if (announced !== undefined && announced > maxBytes) throw tooLong();
      for await (const chunk of body) {
        bytes += (chunk as Buffer).length;
        if (bytes > maxBytes) throw tooLong();
        yield chunk as Buffer;
      }
    } finally {
      body.destroy();
    }
    if (announced !== undefined && bytes !== announced) {
      throw Object.assign(new Error('the body was cut off'), { name: 'IncompleteBody' });
    }
  }

  #refuse(key: string, what: string): PricelakeError {
    return new PricelakeError('lake_invalid', `${this.url}/${key}: ${what}`, { hint: CHANGED_HINT });
  }

  async #put(key: string, bytes: Buffer, ifNoneMatch?: '*'): Promise<void> {
    await this.#client.send(
      new this.#sdk.s3.PutObjectCommand({
        Bucket: this.#bucket,
        Key: this.#prefix + key,
        Body: bytes,
        ChecksumAlgorithm: 'CRC32',
        ...(ifNoneMatch === undefined ? {} : { IfNoneMatch: ifNoneMatch }),
      }),
    );
  }

  async #get(key: string): Promise<GetObjectCommandOutput | undefined> {
    try {
      return await this.#client.send(
        new this.#sdk.s3.GetObjectCommand({ Bucket: this.#bucket, Key: this.#prefix + key }),
      );
    } catch (error) {
      if (statusOf(error) === 404 && nameOf(error) === 'NoSuchKey') return undefined;
      throw error;
    }
  }

  async #sizeOf(key: string): Promise<number | undefined> {
    return (await this.list(key)).find((object) => object.key === key)?.bytes;
  }

  /** Retries transient errors. Unlike the SDK, also retries cut-off responses and undecided conditional writes. */
  async #attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (attempt === ATTEMPTS || error instanceof PricelakeError || !isPassing(error))
          throw explainFault(error, this.url, what);
        this.#io.log('debug', 'remote.retry', { what, reason: nameOf(error), attempt });
        await this.#io.sleep(2 ** attempt * 100 * (0.5 + this.#io.random()));
      }
    }
  }
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const collected: Buffer[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected;
}

/** Returns the time at which the store sent the response, according to the store's clock. */
function readDate({ $metadata }: GetObjectCommandOutput): Date | undefined {
  const { date } = $metadata as { date?: string };
  return date === undefined || Number.isNaN(Date.parse(date)) ? undefined : new Date(date);
}
