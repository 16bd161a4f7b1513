import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../io/durable.js';
import { hasSystemCode, PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { openLake } from '../../lake/lake.js';
import { privatePath } from '../../tables/layout.js';
import { contentSchema, MAX_WAITING, noticeSchema } from './notice.js';

/** The maximum number of facts per receiver for which the file records that the receiver has been notified. */
export const MAX_ACTIVE = 20_000;
const MAX_BYTES = 128 * 1024 * 1024;

const receiverMemory = z.strictObject({
  /** The keys of all facts that were true at the last run. The receiver isn't notified of these facts again. */
  active: z.array(z.string().max(200)).max(MAX_ACTIVE),
  /** The last message, if sending it failed or wasn't confirmed. The receiver may have received it. */
  unsent: contentSchema.optional(),
  /** The notices that the next message will contain. */
  waiting: z.array(noticeSchema).max(MAX_WAITING),
  dropped: z.int().nonnegative(),
});
const memorySchema = z.strictObject({ version: z.literal(1), receivers: z.record(z.string(), receiverMemory) });

export type ReceiverMemory = z.infer<typeof receiverMemory>;
/**
 * The data that is stored for each receiver. A key is a receiver's kind and number, such as `slack 1`, because its
 * address must not be stored.
 */
export type NoticeMemory = Record<string, ReceiverMemory>;

/** The file that stores, for each receiver, which facts it has been notified of, and the unsent message. */
export interface MemoryFile {
  path: string;
  /** The path of a temporary file in the same folder as `path`. */
  part: string;
}

/**
 * Returns the path of `_pricelake/notify.json` in the lake's folder. Returns undefined if there is no lake, because
 * then nothing may be written.
 */
export async function findLakeMemory(lakePath: string): Promise<MemoryFile | undefined> {
  try {
    const lake = await openLake(lakePath, { create: false });
    return { path: privatePath(lake, 'notify.json'), part: privatePath(lake, 'tmp', `${randomUUID()}-notify.json`) };
  } catch (error) {
    if (error instanceof PricelakeError) return undefined;
    throw error;
  }
}

/** Returns the path of the notification file of `watch`, which is in the same folder as the state file. */
export function findWatchMemory(state: string): MemoryFile {
  const path = `${state}.notify.json`;
  return { path, part: join(dirname(path), `.${randomUUID()}.notify.tmp`) };
}

/**
 * Reads what is stored for each receiver. A damaged file is treated like a missing file, so the receivers are notified
 * again of facts that are still true.
 */
export async function readNoticeMemory(file: MemoryFile | undefined, io: Io): Promise<NoticeMemory> {
  if (file === undefined) return {};
  try {
    if ((await stat(file.path)).size > MAX_BYTES) throw new Error('too large');
    return memorySchema.parse(JSON.parse(await readFile(file.path, 'utf8'))).receivers;
  } catch (error) {
    if (!hasSystemCode(error, 'ENOENT')) io.log('warn', 'notify.memory_unread', { file: file.path });
    return {};
  }
}

/** Writes what is stored for each receiver. A failure is only logged, because it must not fail the run. */
export async function keepNoticeMemory(file: MemoryFile | undefined, receivers: NoticeMemory, io: Io): Promise<void> {
  if (file === undefined) return;
  try {
    await replaceFile(file.path, `${JSON.stringify({ version: 1, receivers })}\n`, file.part);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    io.log('warn', 'notify.memory_unwritten', { file: file.path, reason: code });
  }
}
