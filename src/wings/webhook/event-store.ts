import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Io } from '../../io/io.js';
import {
  clearLeftovers,
  createFile,
  ID_MEMORY_MS,
  keyOf,
  listNames,
  makeFolders,
  readKnownKeys,
  webhookPath,
} from './event-files.js';

/** The maximum number of unreadable bodies to keep. Older ones are deleted; the feed contains their changes too. */
const MAX_ASIDE = 1000;

export class EventStore {
  readonly #lakeRoot: string;
  readonly #io: Io;
  /** The keys of known events, oldest first, each with the time since when it has been known. */
  readonly #known: Map<string, number>;
  readonly #writing = new Set<Promise<boolean>>();

  private constructor(lakeRoot: string, io: Io, known: [string, number][]) {
    this.#lakeRoot = lakeRoot;
    this.#io = io;
    this.#known = new Map(known);
  }

  static async open(lakeRoot: string, io: Io): Promise<EventStore> {
    await makeFolders(lakeRoot);
    await clearLeftovers(lakeRoot, io);
    return new EventStore(lakeRoot, io, await readKnownKeys(lakeRoot));
  }

  /** Saves an event, and flushes it to disk. Returns false if the event had already been saved. */
  async land(eventId: string, body: Buffer): Promise<boolean> {
    const key = keyOf(eventId);
    if (this.#known.has(key)) return false;
    const writing = createFile(this.#lakeRoot, webhookPath(this.#lakeRoot, 'events', key), body);
    this.#writing.add(writing);
    const isNew = await writing.finally(() => this.#writing.delete(writing));
    this.#remember(key);
    return isNew;
  }

  /** Durably saves a signed body that isn't a valid event, and returns the path of the file within the lake. */
  async setAside(body: Buffer): Promise<string> {
    const time = this.#io.now().toISOString().replaceAll(/[-:.]/g, '');
    const name = `${time}-${createHash('sha256').update(body).digest('hex').slice(0, 12)}`;
    await createFile(this.#lakeRoot, webhookPath(this.#lakeRoot, 'aside', name), body);
    const names = (await listNames(webhookPath(this.#lakeRoot, 'aside'))).sort();
    for (const old of names.slice(0, -MAX_ASIDE)) {
      await rm(webhookPath(this.#lakeRoot, 'aside', old), { force: true });
    }
    return path.join('_pricelake', 'webhooks', 'aside', name);
  }

  /** Waits until all writes that are in progress have ended. */
  async finish(): Promise<void> {
    await Promise.allSettled(this.#writing);
  }

  #remember(key: string): void {
    const now = this.#io.now().getTime();
    this.#known.set(key, now);
    for (const [old, at] of this.#known) {
      if (at >= now - ID_MEMORY_MS) break;
      this.#known.delete(old);
    }
  }
}
