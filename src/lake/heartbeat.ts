import { type FileHandle, rm, stat } from 'node:fs/promises';
import type { Io } from '../io/io.js';
import { ignoreMissing } from '../tables/layout.js';

/** Interval at which an owner shows that it is alive. */
const INTERVAL_MS = 10_000;

/** A held lock. */
export interface LakeLock {
  /** Aborted when the lock is found to be another's: from then on nothing may be written. */
  lost: AbortSignal;
  /** Lets the next writer in. */
  release(): Promise<void>;
}

/**
 * Beats by writing the lock's own text over itself: the file system dates the write, so that hosts with different
 * clocks agree. Takes `file` over and closes it on release.
 */
export function startHeartbeat(
  path: string,
  file: FileHandle,
  text: string,
  io: Io,
  intervalMs = INTERVAL_MS,
): LakeLock {
  const lost = new AbortController();
  let beating: Promise<void> = Promise.resolve();
  const beat = async () => {
    if (!(await isOurs(path, file))) {
      clearInterval(timer);
      io.log('error', 'lake.lock_lost', { path });
      lost.abort(new Error(`${path}: another process took the lock over`));
      return;
    }
    await file.write(text, 0);
  };
  // A beat that fails (a file system that is away) is missed, not fatal: the next one repairs it.
  const timer = setInterval(() => {
    beating = beat().catch((error: unknown) => io.log('warn', 'lake.heartbeat_missed', { error: String(error) }));
  }, intervalMs);
  timer.unref();
  return {
    lost: lost.signal,
    async release(): Promise<void> {
      clearInterval(timer);
      await beating;
      try {
        if (await isOurs(path, file)) await rm(path, { force: true });
      } finally {
        await file.close();
      }
    },
  };
}

/** True while the lock is the file that this process made. */
async function isOurs(path: string, file: FileHandle): Promise<boolean> {
  const [own, current] = [await file.stat(), await stat(path).catch(ignoreMissing)];
  return current !== undefined && current.ino === own.ino && current.dev === own.dev;
}
