import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { LosslessNumber, parse } from 'lossless-json';
import { MAIN, runHere } from '../pricelake.js';

/** Members of an answer. */
export type Told = Record<string, unknown> & { rows: Record<string, unknown>[] };

export interface Answer {
  isError: boolean;
  /** The structured content, or of an error the JSON of its text. */
  value: Told;
  texts: string[];
}

export interface Opened {
  client: Client;
  call(name: string, input?: Record<string, unknown>, signal?: AbortSignal): Promise<Answer>;
  /** The members of an error. */
  refuse(name: string, input?: Record<string, unknown>): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** The official client, over the stdin and stdout of the built command. */
export async function openClient(args: string[], env: Record<string, string> = {}): Promise<Opened> {
  const client = new Client({ name: 'test', version: '1' });
  const { PATH = '', TMPDIR = '' } = process.env;
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, 'mcp', ...args],
      env: { PATH, ...(TMPDIR === '' ? {} : { TMPDIR }), ...env },
      stderr: 'ignore',
    }),
  );
  return { client, ...callWith(client), close: () => client.close() };
}

export function callWith(client: Client): Pick<Opened, 'call' | 'refuse'> {
  const call: Opened['call'] = async (name, input = {}, signal) => {
    const result = await client.callTool({ name, arguments: input }, signal === undefined ? {} : { signal });
    const texts = (result.content as { text: string }[]).map(({ text }) => text);
    const isError = result.isError === true;
    return {
      isError,
      texts,
      value: (isError ? readError(texts[0] ?? '') : result.structuredContent) as Answer['value'],
    };
  };
  const refuse: Opened['refuse'] = async (name, input) => {
    const { isError, value } = await call(name, input);
    if (!isError) throw new Error(`${name} was not refused: ${JSON.stringify(value).slice(0, 500)}`);
    return { ...(value as Record<string, unknown>), ...(value as { error?: Record<string, unknown> }).error };
  };
  return { call, refuse };
}

/** The client's own errors are no JSON. */
function readError(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { message: text };
  }
}

/** The JSON line of a command, with numbers as their texts. */
export async function readTexts(args: string[]): Promise<Told> {
  const { stdout, stderr } = await runHere(args);
  const line = stdout.trimEnd().split('\n').at(-1) ?? '';
  if (line === '') throw new Error(stderr);
  return toTexts(parse(line)) as Told;
}

/** Numbers and texts alike, because the command line prints exact numbers as numbers. */
export function toTexts(value: unknown): unknown {
  if (value instanceof LosslessNumber || typeof value === 'number')
    return String(Number(value)) === String(value) ? String(value) : trim(String(value));
  if (typeof value === 'string') return /^-?\d+\.\d+$/u.test(value) ? trim(value) : value;
  if (Array.isArray(value)) return value.map(toTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toTexts(member)]));
}
const trim = (text: string) => text.replace(/\.?0+$/u, '');
