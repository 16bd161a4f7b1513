import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CopyNow, PublishedState, RemoteState } from '../../explore/now.js';
import { parseRemoteUrl, showRemoteUrl } from '../../formats/remote-url.js';
import { RUN_STEPS } from '../../io/io.js';
import { isAddress } from '../../io/path-fault.js';
import { readMemory } from '../../journal/memory.js';
import type { RunTry } from '../../journal/tries.js';
import { readLock } from '../../lake/lock-state.js';
import { POINTER_FILE, type Pointer, readPointer } from '../../lake/pointer.js';
import type { Budget } from '../../plan/allowance.js';
import { inspectOpenRun } from '../../run/open/inspect-runs.js';
import type { Lake } from '../../tables/layout.js';
import { readAnyNote, readNote } from '../../wings/remote/index.js';
import type { RemoteSource } from '../join-lakes.js';
import type { CliIo } from '../terminal-io.js';
import { formatBudget, formatLock, formatOpen } from './format-status.js';
import { readBudget } from './read-status.js';
import { DEFAULT_BUDGET } from './show-status.js';

const TRIES_SHOWN = 20;

/** Describes an unfinished run and the quota that is left this month, in the same words as the `status` command. */
export async function tellLocal(lake: Lake, budget: Budget, io: CliIo): Promise<Omit<CopyNow, 'remote'>> {
  const lock = await readLock(lake, io);
  const open = await inspectOpenRun(lake, lock?.alive === true);
  const memory = await readMemory(lake);
  const month = readBudget(memory, undefined, budget, io);
  const lines = [open && formatOpen(open), lock && formatLock(lock), month && formatBudget(month)];
  return { lines: lines.flatMap((line) => line ?? []), tries: listTries(memory) };
}

/** Describes a remote lake that is read through the cache. */
export async function tellRemote({ address }: RemoteSource, lake: Lake): Promise<Omit<CopyNow, 'remote'>> {
  const url = parseRemoteUrl(address);
  const shown = url === undefined ? 'a remote' : showRemoteUrl(url);
  return {
    lines: [`read from ${shown}, and checked for changes once a minute`],
    tries: listTries(await readMemory(lake)),
  };
}

/** Describes several lakes that are combined into one. */
export async function tellJoined(paths: readonly string[], io: CliIo): Promise<CopyNow> {
  const lines: string[] = [`several lakes shown as one, and checked for changes once a minute: ${paths.join(', ')}`];
  for (const path of paths) {
    if (isAddress(path)) continue;
    const { lines: own } = await tellLocal({ root: resolve(path) }, DEFAULT_BUDGET, io);
    lines.push(...own.map((line) => `${path}: ${line}`));
  }
  return { lines, tries: [], remote: { kind: 'unasked' } };
}

/** Lists the processes that worked on runs, newest first, with their steps in order. */
export function listTries({ tries }: { tries: readonly RunTry[] }): CopyNow['tries'] {
  const order = (steps: RunTry['steps']) =>
    Object.fromEntries(RUN_STEPS.flatMap((step) => (steps[step] === undefined ? [] : [[step, steps[step]]])));
  return tries
    .slice(-TRIES_SHOWN)
    .reverse()
    .map((one) => ({ ...one, steps: order(one.steps) }));
}

/** Removes error messages and hints from the list of processes, because they may contain file paths. */
export const withoutMessages = (tries: CopyNow['tries']): CopyNow['tries'] =>
  tries.map(({ fault, ...one }) => ({ ...one, fault: fault && { step: fault.step, code: fault.code } }));

/**
 * If a remote's state was read longer ago than FRESH_MS, a page reads it again. The page waits for the new state for at
 * most WAIT_MS, and then shows the last known state.
 */
const FRESH_MS = 60_000;
const WAIT_MS = 500;
const MOST_MS = 5_000;

/** Reads the state of a lake's remote from time to time while pages are shown, and compares the lake with it. */
class RemoteWatch {
  readonly #lake: Lake;
  readonly #url: string;
  readonly #read: () => Promise<Pointer | undefined>;
  readonly #now: () => Date;
  #asking: Promise<void> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #answer: { readAt: Date; remote: Pointer | undefined } | { reason: string } | undefined;

  constructor(lake: Lake, url: string, read: () => Promise<Pointer | undefined>, now: () => Date) {
    this.#lake = lake;
    this.#url = url;
    this.#read = read;
    this.#now = now;
  }

  /**
   * Returns the last known state of the remote. If that state is out of date, starts reading the new one, but doesn't
   * wait for a slow response.
   */
  async look(): Promise<RemoteState> {
    if (this.#asking === undefined && performance.now() - this.#askedAt > FRESH_MS) this.#ask();
    await Promise.race([this.#asking, new Promise((resolve) => setTimeout(resolve, WAIT_MS).unref())]);
    const [answer, url] = [this.#answer, this.#url];
    if (answer === undefined) return { kind: 'asked', url };
    if ('reason' in answer) return { kind: 'unread', url, reason: answer.reason };
    return compare(url, answer.readAt, await readPointer(this.#lake), answer.remote);
  }

  #ask(): void {
    this.#asking = this.#read()
      .then(
        (remote) => {
          this.#answer = { readAt: this.#now(), remote };
        },
        (error: unknown) => {
          this.#answer = { reason: error instanceof Error ? error.message : String(error) };
        },
      )
      .finally(() => {
        this.#asking = undefined;
        this.#askedAt = performance.now();
      });
  }
}

function compare(url: string, readAt: Date, local: Pointer | undefined, remote: Pointer | undefined): RemoteState {
  return { kind: 'compared', url, readAt, local: local && toState(local), remote: remote && toState(remote) };
}

const toState = ({ runNumber, runId, at, tables }: Pointer): PublishedState => ({
  ...{ runNumber, runId, at },
  versions: new Map(Object.entries(tables).map(([table, { version }]) => [table, version])),
});

/**
 * Returns a function that compares the lake with its remote. If the pipeline file sets no remote, this is the one from
 * which the lake was downloaded.
 */
export async function watchOwnRemote(
  lake: Lake,
  named: string | undefined,
  io: CliIo,
): Promise<() => Promise<RemoteState>> {
  const address = named ?? (await readAnyNote(lake))?.url;
  const parsed = address === undefined ? undefined : parseRemoteUrl(address);
  if (address === undefined || parsed === undefined) return async () => ({ kind: 'none' });
  const read = async () => {
    const { readPublished } = await import('../../wings/remote/index.js');
    return readPublished(address, io, MOST_MS);
  };
  const watch = new RemoteWatch(lake, showRemoteUrl(parsed), read, io.now);
  return () => watch.look();
}

/** Compares the lake on this machine with the state of its remote that is in the cache. Makes no requests. */
export async function compareRead(path: string, cached: Lake, address: string): Promise<RemoteState> {
  const parsed = parseRemoteUrl(address);
  if (parsed === undefined) return { kind: 'unasked' };
  const url = showRemoteUrl(parsed);
  const local = { root: resolve(path) };
  const isCopy = (await readNote(local, url)) !== undefined;
  const { mtime } = await stat(join(cached.root, POINTER_FILE));
  return compare(url, mtime, isCopy ? await readPointer(local) : undefined, await readPointer(cached));
}
