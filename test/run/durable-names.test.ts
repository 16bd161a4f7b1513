import fs, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RunEntry } from '../../src/journal/run-entry.js';
import type { BackfillEntry } from '../../src/wings/histories/backfill-journal.js';
import { createFile, keyOf, makeFolders, webhookPath } from '../../src/wings/webhook/event-files.js';
import { openWorld } from './world.js';

/** What a power failure would leave: bytes of files by inode, and names, as of their last sync. */
class Disk {
  readonly #bytes = new Map<number, number>();
  readonly #names = new Map<string, number>();
  readonly #root: string;
  /** What a journal listed before it was on this disk. */
  readonly faults: string[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  async sync(file: string): Promise<void> {
    const info = await fs.stat(file);
    if (!info.isDirectory()) return void this.#bytes.set(info.ino, info.size);
    for (const name of await fs.readdir(file)) {
      const child = path.join(file, name);
      this.#names.set(child, (await fs.lstat(child).catch(() => undefined))?.ino ?? 0);
    }
  }

  /** Explains what would be lost of a file. `end` is the number of bytes that must be there. */
  async explain(file: string, end?: number): Promise<string | undefined> {
    const info = await fs.stat(file);
    const synced = this.#bytes.get(info.ino) ?? -1;
    if (synced < (end ?? info.size)) return `${file}: ${synced} of ${end ?? info.size} bytes`;
    for (let name = file; name.length >= this.#root.length; name = path.dirname(name)) {
      if (this.#names.get(name) !== (await fs.stat(name)).ino) return `${file}: the name ${name}`;
    }
    return undefined;
  }

  async judge(journal: string, lines: string): Promise<void> {
    // The name of a new journal is synced with its first lines.
    const faults = (await fs.stat(journal)).size === 0 ? [] : [await this.explain(journal, 0)];
    for (const line of lines.trimEnd().split('\n')) {
      const entry = JSON.parse(line) as (RunEntry | BackfillEntry) & { file?: string; end?: number; bytes?: number };
      const name = entry.file ?? FILES[entry.type];
      if (name === undefined) continue;
      const file = path.join(path.dirname(journal), name);
      faults.push(await this.explain(file, entry.end ?? entry.bytes));
      named.add(entry.type);
    }
    this.faults.push(...faults.filter((fault) => fault !== undefined));
  }
}

/** Entries whose file has the same name in each run. */
const FILES: Partial<Record<(RunEntry | BackfillEntry)['type'], string>> = {
  'feed.page': 'feed.ndjson',
  'backfill.item': 'history.ndjson',
};

/** The types of entries that listed a file. */
const named = new Set<string>();
let disk: Disk;
const { open } = fs;

function use(one: typeof open): void {
  Object.assign(fs, { open: one });
  syncBuiltinESMExports();
}

function watch(file: FileHandle, name: string): FileHandle {
  const { sync, datasync, appendFile } = file;
  return Object.assign(file, {
    async sync() {
      await sync.call(file);
      await disk.sync(name);
    },
    async datasync() {
      await datasync.call(file);
      await disk.sync(name);
    },
    async appendFile(...args: Parameters<typeof appendFile>) {
      if (path.basename(name) === 'journal.ndjson') await disk.judge(name, String(args[0]));
      return appendFile.apply(file, args);
    },
  });
}

const world = await openWorld({ items: 60, sites: 2, pastDays: 2 });
afterAll(() => world.close());
beforeEach(() => {
  disk = new Disk(world.lakePath);
  use(async (file, ...rest) => watch(await open(file, ...rest), path.resolve(String(file))));
});
afterEach(() => use(open));

/** Files that no run needs, because they are recreated. */
const MADE_AGAIN = /\/_pricelake\/(lock|work|tmp|checkpoints)/;

async function listLost(): Promise<string[]> {
  const entries = await fs.readdir(world.lakePath, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const lost = await Promise.all(files.filter((file) => !MADE_AGAIN.test(file)).map((file) => disk.explain(file)));
  return lost.filter((one) => one !== undefined);
}

describe('a power failure', () => {
  // I6 of SPEC.md
  test('loses nothing that a journal lists, and nothing that a run has written', async () => {
    await world.sync();
    expect([disk.faults, await listLost()]).toEqual([[], []]);
    await world.sandbox.advance({ hours: 6, changes: 20 });
    world.pipeline.source.history = 'items';
    await world.sync();
    expect([disk.faults, await listLost()]).toEqual([[], []]);
    await makeFolders(world.lakePath);
    const body = Buffer.from('{"changes":[]}');
    await createFile(world.lakePath, webhookPath(world.lakePath, 'events', keyOf('a')), body);
    world.pipeline.source.mode = 'snapshot';
    await world.sandbox.advance({ hours: 6, changes: 20 });
    await world.sync();
    expect([disk.faults, await listLost()]).toEqual([[], []]);
    expect([...named].sort()).toEqual(['backfill.item', 'export.segment', 'feed.page', 'hydrate.page', 'source.rows']);
  });
});
