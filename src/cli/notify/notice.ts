import * as z from 'zod';
import { PRICELAKE_VERSION } from '../../io/package-path.js';
import { toPlainLine } from '../plain-text.js';

/** Most notices that wait for a receiver; older ones are only counted. */
export const MAX_WAITING = 200;

const line = z.string().max(1000);

export const noticeSchema = z.strictObject({
  /** Identifies the fact behind the notice. While the fact lasts, no receiver gets it again. */
  key: z.string().max(200),
  kind: z.enum(['price', 'held', 'failed', 'stale', 'budget']),
  at: z.iso.datetime(),
  /** One line for people. */
  text: line,
  /** For programs. Amounts of money are exact texts. */
  facts: z.record(z.string(), z.union([line, z.number(), z.null(), z.array(line).max(50)])),
  /** Credits of the open data in it. */
  credits: z.array(line).max(50),
});

/** One thing that a person should learn. */
export type Notice = z.infer<typeof noticeSchema>;

/** Cuts text from outside, and makes one line of it. */
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

/** The content of a message. One that is sent again has the same id, so that the receiver can drop the repeat. */
export const contentSchema = z.strictObject({
  id: z.uuid(),
  createdAt: z.iso.datetime(),
  notices: z.array(noticeSchema).max(MAX_WAITING),
  /** Older notices that were too many to keep. */
  dropped: z.int().nonnegative(),
});

/** A message from a command, sent at a time. */
export interface Batch extends z.infer<typeof contentSchema> {
  pipeline: string | undefined;
  command: 'sync' | 'watch';
  at: Date;
}

/** The message for programs: a plain POST, or what a command reads from stdin. */
export interface Message {
  id: string;
  body: Record<string, unknown>;
  /** The same for people. */
  text: string;
}

/** More lines, nobody reads. Teams takes messages of 28 kB. */
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
  const others = notices.length - shown.length + dropped;
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
      ...(others === 0 ? [] : [`and ${others} more`]),
      ...credits.map((credit) => `Data: ${cutLine(credit, 200)}`),
    ].join('\n'),
  };
}

function listCredits(notices: readonly Notice[]): string[] {
  return [...new Set(notices.flatMap(({ credits }) => credits))].sort();
}
