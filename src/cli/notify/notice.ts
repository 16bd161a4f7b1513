import * as z from 'zod';
import { PRICELAKE_VERSION } from '../../io/package-path.js';
import { toPlainLine } from '../plain-text.js';

/** The maximum number of notices to queue per receiver. Older ones are only counted. */
export const MAX_WAITING = 200;

const line = z.string().max(1000);

export const noticeSchema = z.strictObject({
  /** Identifies the fact that the notice reports. While the fact holds, it is not sent again. */
  key: z.string().max(200),
  kind: z.enum(['price', 'held', 'failed', 'stale', 'budget']),
  at: z.iso.datetime(),
  /** One line for people. */
  text: line,
  /** Facts for programs. Amounts of money are exact texts. */
  facts: z.record(z.string(), z.union([line, z.number(), z.null(), z.array(line).max(50)])),
  /** Credits of the open data in the notice. */
  credits: z.array(line).max(50),
});

/** News for a person. */
export type Notice = z.infer<typeof noticeSchema>;

/** Makes one line of foreign text, and cuts it. */
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

/** The content of a message. A message that is sent again keeps its id, so that the receiver can drop the repeat. */
export const contentSchema = z.strictObject({
  id: z.uuid(),
  createdAt: z.iso.datetime(),
  notices: z.array(noticeSchema).max(MAX_WAITING),
  /** The number of older notices that were dropped. */
  dropped: z.int().nonnegative(),
});

/** The content of a message with the time at which a command sends it. */
export interface Batch extends z.infer<typeof contentSchema> {
  pipeline: string | undefined;
  command: 'sync' | 'watch';
  at: Date;
}

/** The message for programs, as a POST body or as the stdin of a command. */
export interface Message {
  id: string;
  body: Record<string, unknown>;
  /** The message for people. */
  text: string;
}

/** The maximum number of lines in a message for people. Teams accepts messages of up to 28 kB. */
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
