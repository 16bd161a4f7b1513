import type { ApiClient, Query } from '../../src/api/client.js';

type Shown = Record<string, string | number | bigint | boolean | undefined>;

export interface Asked {
  path: string;
  query: Shown;
}

/** Times as they appear in the URL. */
function show(query: Query): Shown {
  const pairs = Object.entries(query).map(([name, value]) => [
    name,
    value instanceof Date ? value.toISOString() : value,
  ]);
  return Object.fromEntries(pairs) as Shown;
}

/** A client without a network. `answer` returns the answers, and requests are recorded. */
export function fakeClient(answer: (path: string, query: Shown, count: number) => unknown, serviceTime?: Date) {
  const asked: Asked[] = [];
  const ask = (path: string, query: Query): unknown => {
    const shown = show(query);
    asked.push({ path, query: shown });
    return answer(path, shown, asked.length);
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
