import { randomUUID } from 'node:crypto';
import type { CliIo } from '../terminal-io.js';
import { type Batch, MAX_WAITING, type Notice, writeMessage } from './notice.js';
import {
  keepNoticeMemory,
  MAX_ACTIVE,
  type MemoryFile,
  type NoticeMemory,
  type ReceiverMemory,
  readNoticeMemory,
} from './notice-memory.js';
import type { Receiver } from './receivers.js';
import { sendMessage } from './send-message.js';

export interface News {
  /** The pipeline's name. Undefined if the command has no pipeline file or can't read it. */
  pipeline: string | undefined;
  command: Batch['command'];
  /** Returns a notice for each fact that is true now, including facts for which a notice has already been sent. */
  find(receiver: Receiver): Notice[];
  /** True if `find` returns all facts that are true. False after a failed run, which may not have found all of them. */
  isComplete: boolean;
}

/**
 * Sends each receiver the message that an earlier run couldn't send, followed by a message with new facts. A message
 * that can't be sent is saved in `file` for the next run. Never throws, because notifications must not fail a run.
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
  const at = io.now();
  /** Sends a receiver's next message. Returns true if it was delivered. */
  const sendNext = async ([name, receiver]: (typeof named)[number]): Promise<boolean> => {
    const { unsent, ...rest } = memory[name] as ReceiverMemory;
    if (unsent === undefined) return false;
    const notices = unsent.notices.length;
    try {
      await sendMessage(receiver, writeMessage({ ...unsent, pipeline, command, at }), io);
      memory[name] = rest;
      io.log('info', 'notify.sent', { receiver: name, notices });
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      io.log('warn', 'notify.failed', { receiver: name, notices, reason });
      return false;
    }
  };
  for (let open = named; open.length > 0; ) {
    for (const [name] of open) memory[name] = fillMessage(memory[name] as ReceiverMemory, at);
    // The messages are saved before they are sent. If the process is killed, the next run sends each message again with
    // the same id.
    await keepNoticeMemory(file, memory, io);
    const haveArrived = await Promise.all(open.map(sendNext));
    open = open.filter((_, k) => haveArrived[k]);
  }
  await keepNoticeMemory(file, memory, io);
}

/**
 * Moves the waiting notices to a new message. If there is an unsent message, it may have been delivered, so it is kept
 * as it is.
 */
function fillMessage({ unsent, waiting, dropped, ...rest }: ReceiverMemory, at: Date): ReceiverMemory {
  if (unsent !== undefined) return { ...rest, unsent, waiting, dropped };
  if (waiting.length === 0) return { ...rest, waiting, dropped };
  const next = { id: randomUUID(), createdAt: at.toISOString(), notices: waiting, dropped };
  return { ...rest, unsent: next, waiting: [], dropped: 0 };
}

/** Names each receiver by its kind and a number, because its address must not be stored. Omits repeated receivers. */
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
  { active, waiting, dropped, unsent }: ReceiverMemory = { active: [], waiting: [], dropped: 0 },
  found: readonly Notice[],
  isComplete: boolean,
): ReceiverMemory {
  const known = new Set(active);
  const all = [...waiting, ...found.filter(({ key }) => !known.has(key))];
  const kept = all.slice(-MAX_WAITING);
  const keys = new Set([...found.map(({ key }) => key), ...(isComplete ? [] : active)]);
  return {
    active: [...keys].slice(0, MAX_ACTIVE),
    unsent,
    waiting: kept,
    dropped: dropped + all.length - kept.length,
  };
}
