/** Shared by the tests of the receiver: a sender as in section 6, and a receiver with its own folder. */
import { createHmac } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Io } from '../../src/io/io.js';
import { realIo } from '../../src/io/real-io.js';
import { EventStore } from '../../src/wings/webhook/event-store.js';
import { type Receiver, type ReceiverOptions, startReceiver } from '../../src/wings/webhook/receiver.js';
import { makeFolder } from '../lake/fixture.js';

export const SECRET = 'whsec_current';
/** The receiver's clock. */
export const NOW = new Date('2026-11-20T12:00:00Z');
export const HOUR_MS = 3_600_000;

export interface LogEntry {
  level: string;
  event: string;
  [fact: string]: unknown;
}

/** The real world with a stopped clock, which keeps the log entries. */
export function createLogIo(): { io: Io; logs: LogEntry[] } {
  const logs: LogEntry[] = [];
  const io = {
    ...realIo,
    now: () => NOW,
    log: (level: string, event: string, facts = {}) => logs.push({ level, event, ...facts }),
  };
  return { io: io as Io, logs };
}

export function buildEvent(id: string, facts: Record<string, unknown> = {}): string {
  const event = { id, type: 'changes', createdAt: NOW.toISOString(), cursor: 7, changes: [{ id: 7 }] };
  return JSON.stringify({ ...event, ...facts });
}

/** The header Service-Signature, computed without the code under test. */
export function sign(body: string | Buffer, options: { secrets?: string[]; at?: Date } = {}): string {
  const t = Math.floor((options.at ?? NOW).getTime() / 1000);
  const values = (options.secrets ?? [SECRET]).map((secret) =>
    createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex'),
  );
  return [`t=${t}`, ...values.map((value) => `v1=${value}`)].join(',');
}

export interface Post {
  signature?: string | null;
  path?: string;
  method?: string;
  headers?: Record<string, string>;
}

/** A receiver with its folder, which closes when the test ends. */
export class Site {
  readonly folder: string;
  readonly logs: LogEntry[];
  readonly #io: Io;
  readonly #options: Partial<ReceiverOptions>;
  receiver!: Receiver;

  private constructor(folder: string, options: Partial<ReceiverOptions>) {
    this.folder = folder;
    const { io, logs } = createLogIo();
    this.#io = io;
    this.logs = logs;
    this.#options = options;
  }

  static async open(options: Partial<ReceiverOptions> = {}): Promise<Site> {
    const site = new Site(await makeFolder('webhook'), options);
    await site.start();
    onTestFinished(() => site.receiver.close());
    return site;
  }

  async start(): Promise<void> {
    const store = await EventStore.open(this.folder, this.#io);
    const secrets = { current: async () => [SECRET] };
    const address = { host: '127.0.0.1', port: 0, path: '/webhook', maxBodyBytes: 100_000 };
    const ages = { maxAgeMs: 48 * HOUR_MS, maxSkewMs: 5 * 60_000 };
    this.receiver = await startReceiver({ ...address, ...ages, secrets, store, ...this.#options }, this.#io);
  }

  async restart(): Promise<void> {
    await this.receiver.close();
    await this.start();
  }

  /** Posts a body, and returns the status of the response. */
  async post(body: string | Buffer, { signature = sign(body), path: at, method = 'POST', headers }: Post = {}) {
    const url = new URL(at ?? '/webhook', this.receiver.url);
    const signed = signature === null ? {} : { 'Service-Signature': signature };
    const init = method === 'GET' ? {} : { body: body as string };
    const answer = await fetch(url, { method, headers: { ...signed, ...headers }, ...init });
    return answer.status;
  }

  /** Names below `_pricelake/webhooks`, by folder. */
  async list(name: 'events' | 'aside' | 'tmp'): Promise<string[]> {
    return readdir(path.join(this.folder, '_pricelake', 'webhooks', name));
  }

  /** The bytes of every file in the folder. */
  async read(name: 'events' | 'aside'): Promise<Buffer[]> {
    const names = await this.list(name);
    return Promise.all(names.map((file) => readFile(path.join(this.folder, '_pricelake', 'webhooks', name, file))));
  }

  /** The log entries of an event. */
  logged(event: string): LogEntry[] {
    return this.logs.filter((entry) => entry.event === event);
  }
}
