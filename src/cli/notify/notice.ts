import * as z from 'zod';
import { PRICELAKE_VERSION } from '../../io/package-path.js';
import { toPlainLine } from '../plain-text.js';

/**
 * The maximum number of notices that wait to be sent to a receiver. If there are more, the oldest ones are dropped and
 * counted.
 */
export const MAX_WAITING = 200;

const line = z.string().max(1000);

export const noticeSchema = z.strictObject({
  /** Identifies the reported fact. As long as the fact stays true, no other notice with this key is sent. */
  key: z.string().max(200),
  kind: z.enum(['price', 'held', 'failed', 'stale', 'budget']),
  at: z.iso.datetime(),
  /** The notice as one line of text for people. */
  text: line,
  /** The values of the notice for programs. Amounts of money are decimal strings. */
  facts: z.record(z.string(), z.union([line, z.number(), z.null(), z.array(line).max(50)])),
  /** The attribution texts of the open data that the notice contains. */
  credits: z.array(line).max(50),
});

/** A fact that people should be notified of. */
export type Notice = z.infer<typeof noticeSchema>;

/** Converts untrusted text to one line of at most `most` characters. */
export function cutLine(text: string, most: number): string {
  const plain = toPlainLine(text);
  return plain.length <= most ? plain : `${plain.slice(0, most - 1).replace(/[\ud800-\udbff]$/u, '')}…`;
}

export function writeNotice({ key, text, facts, ...rest }: Omit<Notice, 'credits'> & { credits?: string[] }): Notice {
  const cut = (value: Notice['facts'][string]) => {
    if (Array.isArray(value)) return value.slice(0, 50).map((each) => cutLine(each, 1000));
    return typeof value === 'string' ? cutLine(value, 1000) : value;
  };
  return {
    credits: [],
    ...rest,
    key: cutLine(key, 200),
    text: cutLine(text, 1000),
    facts: Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, cut(value)])),
  };
}

/** The content of a message. A message that is sent again keeps its id, so that the receiver can ignore duplicates. */
export const contentSchema = z.strictObject({
  id: z.uuid(),
  createdAt: z.iso.datetime(),
  notices: z.array(noticeSchema).max(MAX_WAITING),
  /** The number of older notices that were dropped. */
  dropped: z.int().nonnegative(),
});

/** A message's content, with the pipeline, the command, and the time at which it is sent. */
export interface Batch extends z.infer<typeof contentSchema> {
  pipeline: string | undefined;
  command: 'sync' | 'watch';
  at: Date;
}

/**
 * A message in two forms. `body` is for programs, which receive it as a POST body or on stdin. `text` is for people.
 */
export interface Message {
  id: string;
  body: Record<string, unknown>;
  text: string;
}

/** The maximum number of notices in the text for people. It keeps the text below 28 kB, the limit of Teams. */
const LINES = 20;

export function writeMessage({ id, createdAt, pipeline, command, notices, dropped, at }: Batch): Message {
  const body = {
    id,
    type: 'notices',
    createdAt,
    pipeline: pipeline ?? null,
    command,
    notices: notices.map(({ kind, at: since, text, facts }) => ({ kind, at: since, text, ...facts })),
    dropped,
    attribution: listCredits(notices),
    version: PRICELAKE_VERSION,
  };
  const shown = notices.slice(-LINES);
  const omitted = notices.length - shown.length + dropped;
  const lines = shown.map((notice) => {
    const isOld = notice.at !== at.toISOString();
    return `• ${cutLine(notice.text, 400)}${isOld ? ` (${notice.at.slice(0, 16).replace('T', ' ')} UTC)` : ''}`;
  });
  const title = `pricelake ${command}${pipeline === undefined ? '' : ` ${pipeline}`}`;
  const credits = listCredits(shown).slice(0, LINES);
  return {
    id,
    body,
    text: [
      title,
      ...lines,
      ...(omitted === 0 ? [] : [`and ${omitted} more`]),
      ...credits.map((credit) => `Data: ${cutLine(credit, 200)}`),
    ].join('\n'),
  };
}

function listCredits(notices: readonly Notice[]): string[] {
  return [...new Set(notices.flatMap(({ credits }) => credits))].sort();
}
