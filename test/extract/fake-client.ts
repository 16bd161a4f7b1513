import type { ApiClient, Query } from '../../src/api/client.js';

export interface Asked {
  path: string;
  query: Query;
}

/** A client without a network: answers come from `answer`, as bytes or parsed, and are noted. */
export function fakeClient(answer: (path: string, query: Query, count: number) => unknown, serviceTime?: Date) {
  const asked: Asked[] = [];
  const ask = (path: string, query: Query): unknown => {
    asked.push({ path, query });
    return answer(path, query, asked.length);
  };
  const client = {
    json: async (path: string, query: Query, schema: { parse(value: unknown): unknown }) =>
      schema.parse(ask(path, query)),
    bytes: async (path: string, query: Query) => ({ body: Buffer.from(JSON.stringify(ask(path, query))) }),
    calls: () => asked.length,
    serviceTime: () => serviceTime,
  };
  return { client: client as unknown as ApiClient, asked };
}
