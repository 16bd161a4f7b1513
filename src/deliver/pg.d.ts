/** Types of two packages that are installed only to load PostgreSQL. */
declare module 'pg' {
  export interface QueryResult {
    rows: Record<string, unknown>[];
  }
  export class Client {
    constructor(config: { connectionString?: string | undefined; application_name?: string });
    password: string | null;
    connect(): Promise<void>;
    query(sql: string, values?: unknown[]): Promise<QueryResult>;
    query<T>(stream: T): T;
    end(): Promise<void>;
    on(event: 'error', listener: (error: Error) => void): void;
  }
  const pg: { Client: typeof Client };
  export default pg;
}

declare module 'pg-copy-streams' {
  import type { Writable } from 'node:stream';
  export function from(sql: string): Writable;
}
