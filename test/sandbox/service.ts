import type { z } from 'zod';
import { change, changePage, item } from '../../src/api/contract.js';
import { parseExactJson } from '../../src/api/exact-json.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.js';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/** A sandbox as a test talks to it: text as it arrived, or parsed exactly by a schema of the contract. */
export class Service {
  readonly sandbox: Sandbox;

  constructor(sandbox: Sandbox) {
    this.sandbox = sandbox;
  }

  static async start(options: SandboxOptions = {}): Promise<Service> {
    return new Service(await startSandbox({ items: 1500, ratePerSecond: null, ...options }));
  }

  async get(path: string, key: string | null = this.sandbox.keys.live): Promise<Answer> {
    const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(`${this.sandbox.baseUrl}/api/v1${path}`, { headers });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  async read<T extends z.ZodType>(path: string, schema: T, key?: string): Promise<z.infer<T>> {
    const answer = await this.get(path, key);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return parse(answer.text, schema);
  }

  /** All items and all changes, as they really are. */
  async readTruth(): Promise<{ items: z.infer<typeof item>[]; changes: z.infer<typeof change>[] }> {
    const { items, changes } = await this.sandbox.dump();
    return { items: items.map((line) => parse(line, item)), changes: changes.map((line) => parse(line, change)) };
  }

  /** Reads the whole feed after a cursor, page by page. */
  async readFeed(after = 0n, limit = 1000, query = ''): Promise<z.infer<typeof changePage>['changes']> {
    const all: z.infer<typeof changePage>['changes'] = [];
    let cursor = after;
    for (;;) {
      const page = await this.read(`/changes?after=${cursor}&limit=${limit}${query}`, changePage);
      all.push(...page.changes);
      cursor = page.nextCursor;
      if (!page.hasMore) return all;
    }
  }

  close(): Promise<void> {
    return this.sandbox.close();
  }
}

/** Writes a time with all six digits, so that texts compare like times. */
export function micros(text: string): string {
  return text
    .replace('Z', '')
    .replace(/(:\d\d)$/, '$1.')
    .padEnd(26, '0');
}

export function parse<T extends z.ZodType>(text: string, schema: T): z.infer<T> {
  return schema.parse(parseExactJson(text));
}
