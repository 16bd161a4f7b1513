import type { CliIo } from '../terminal-io.js';
import { type Batch, type Notice, writeMessage } from './notice.js';
import {
  keepNoticeMemory,
  MAX_ACTIVE,
  MAX_WAITING,
  type MemoryFile,
  type NoticeMemory,
  type ReceiverMemory,
  readNoticeMemory,
} from './notice-memory.js';
import type { Receiver } from './receivers.js';
import { sendMessage } from './send-message.js';

export interface News {
  /** Undefined if the pipeline file could not be read, or none was named. */
  pipeline: string | undefined;
  command: Batch['command'];
  /** All facts that a receiver should know of, told before or not. */
  find(receiver: Receiver): Notice[];
  /** True if facts that are not found no longer last. A run that failed has not seen everything. */
  isComplete: boolean;
}

/**
 * Sends each receiver one message with what is new to it and what could not be sent before. A message that can't be sent
 * waits in `file` for the next run. Never throws: news are no part of a run.
 */
export async function notify(
  receivers: readonly Receiver[],
  { pipeline, command, find, isComplete }: News,
  file: MemoryFile | undefined,
  io: CliIo,
): Promise<void> {
  if (receivers.length === 0) return;
  const old = await readNoticeMemory(file, io);
  const named = nameReceivers(receivers);
  const memory: NoticeMemory = { ...old };
  for (const [name, receiver] of named) memory[name] = takeNews(old[name], find(receiver), isComplete);
  // Kept first, so that a process that is killed while it sends loses nothing. The next run may send it twice.
  await keepNoticeMemory(file, memory, io);
  const at = io.now();
  await Promise.all(
    named.map(async ([name, receiver]) => {
      const { waiting: notices, dropped, ...rest } = memory[name] as ReceiverMemory;
      if (notices.length === 0) return;
      try {
        await sendMessage(receiver, writeMessage({ pipeline, command, notices, dropped, at }), io);
        memory[name] = { ...rest, waiting: [], dropped: 0 };
        io.log('info', 'notify.sent', { receiver: name, notices: notices.length });
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown';
        io.log('warn', 'notify.failed', { receiver: name, notices: notices.length, reason });
      }
    }),
  );
  await keepNoticeMemory(file, memory, io);
}

/** By kind and place, because a file must not hold the address. One that is named twice is told once. */
function nameReceivers(receivers: readonly Receiver[]): [name: string, receiver: Receiver][] {
  const seen = new Map<string, number>();
  const target = (one: Receiver) => JSON.stringify([one.kind, one.kind === 'command' ? one.command : one.address]);
  const known = receivers.map(target);
  const different = receivers.filter((one, at) => known.indexOf(target(one)) === at);
  return different.map((receiver) => {
    const place = (seen.get(receiver.kind) ?? 0) + 1;
    seen.set(receiver.kind, place);
    return [`${receiver.kind} ${place}`, receiver];
  });
}

function takeNews(
  { active, waiting, dropped }: ReceiverMemory = { active: [], waiting: [], dropped: 0 },
  found: readonly Notice[],
  isComplete: boolean,
): ReceiverMemory {
  const known = new Set(active);
  const all = [...waiting, ...found.filter(({ key }) => !known.has(key))];
  const kept = all.slice(-MAX_WAITING);
  const keys = new Set([...found.map(({ key }) => key), ...(isComplete ? [] : active)]);
  return {
    active: [...keys].slice(0, MAX_ACTIVE),
    waiting: kept,
    dropped: dropped + all.length - kept.length,
  };
}
