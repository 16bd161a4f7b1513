import type { Service } from '../http/caller.js';
import { advanceWorld } from '../world/advance-world.js';
import { answerFault, REDIRECTED } from './answer-fault.js';
import { type BodyBreak, cutBytes, cutRows, findBreak, streamUntilBreak } from './break-body.js';
import { editJson } from './edit-json.js';
import { chooseRowEdit, type ExportFormat, type RowEdit, readRows } from './edit-rows.js';
import type { FaultEffect } from './fault.js';
import type { FaultEndpoint } from './fault-kinds.js';

/** The service behind the faults. @param midExport runs when half of an export's rows are out */
export type FaultlessHandler = (request: Request, midExport?: () => Promise<void>) => Promise<Response>;

const ENDPOINTS: [RegExp, FaultEndpoint][] = [
  [/^\/(datasets|facets|items|changes|products|export|plan)$/, 'any'],
  [/^\/changes\/recent$/, 'recent'],
  [/^\/items\/[^/]+$/, 'item'],
  [/^\/items\/[^/]+\/history$/, 'history'],
  [/^\/products\/[^/]+$/, 'product'],
];

/** The handler with the armed faults; a request that none hits passes untouched. @param findHangUp what closes the connection */
export function injectFaults(service: Service, next: FaultlessHandler, findHangUp: () => () => void) {
  const plan = service.faults;
  return async (request: Request): Promise<Response> => {
    // The common case costs one look, not a parsed URL.
    if (plan.isEmpty && !request.url.includes(REDIRECTED)) return next(request);
    const url = new URL(request.url);
    if (url.pathname.startsWith(REDIRECTED)) {
      url.pathname = url.pathname.slice(REDIRECTED.length);
      return next(new Request(url, { method: request.method, headers: request.headers }));
    }
    const endpoint = findEndpoint(url.pathname);
    const effects = endpoint === null ? [] : plan.take(endpoint);
    if (effects.length === 0) return next(request);
    for (const effect of effects) {
      const answer = answerFault(effect, request, service);
      if (answer !== null) return answer;
    }
    const move = findMove(effects, service);
    if (endpoint !== 'export') await move?.();
    const answer = await next(request, move);
    if (!answer.ok || answer.body === null) return answer;
    return endpoint === 'export'
      ? editExport(answer, effects, findHangUp())
      : editAnswer(answer, effects, url, findHangUp());
  };
}

function findEndpoint(path: string): FaultEndpoint | null {
  const rest = /^\/api\/v1(\/.*)$/.exec(path)?.[1];
  if (rest === undefined) return null;
  const found = ENDPOINTS.find(([pattern]) => pattern.test(rest))?.[1] ?? null;
  return found === 'any' ? (rest.slice(1) as FaultEndpoint) : found;
}

/** An hour passes, with the changes that the fault names. */
function findMove(effects: readonly FaultEffect[], { world, clock }: Service): (() => Promise<void>) | undefined {
  const changes = effects.find(({ kind }) => kind === 'move')?.argument as number | undefined;
  return changes === undefined ? undefined : async () => void (await advanceWorld(world, clock, { hours: 1, changes }));
}

async function editAnswer(answer: Response, effects: FaultEffect[], url: URL, hangUp: () => void): Promise<Response> {
  const body = Buffer.from(editJson(await answer.text(), effects, url));
  const headers = new Headers(answer.headers);
  headers.set('Content-Length', String(body.length));
  const at = findBreak(effects);
  return new Response(at === null ? body : streamUntilBreak(cutBytes(body, at), at, hangUp), { headers });
}

function editExport(answer: Response, effects: FaultEffect[], hangUp: () => void): Response {
  const headers = new Headers(answer.headers);
  const format = headers.get('content-type')?.includes('csv') ? 'csv' : 'ndjson';
  const announced = Number(headers.get('x-export-rows'));
  let rows = announced;
  for (const { kind, argument } of effects) {
    if (kind === 'duplicate') rows += Math.min(argument, announced);
    if (kind === 'rows') rows += argument;
  }
  headers.set('X-Export-Rows', String(Math.max(0, rows)));
  const edits = effects.flatMap((effect) => chooseRowEdit(effect, format) ?? []);
  const edited = editRows(readRows(answer.body as ReadableStream<Uint8Array>, format), edits, format);
  const at = findBreak(effects);
  return new Response(at === null ? streamRows(edited) : breakRows(edited, announced, at, hangUp), { headers });
}

async function* editRows(rows: AsyncIterable<string>, edits: RowEdit[], format: ExportFormat): AsyncGenerator<string> {
  let n = format === 'csv' ? 0 : 1;
  for await (const row of rows) {
    if (n === 0) yield edits.reduce((line, edit) => edit.header?.(line) ?? line, row);
    else yield* edits.reduce((lines, edit) => lines.flatMap((line) => edit.row(line, n)), [row]);
    n++;
  }
}

function streamRows(rows: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  return ReadableStream.from(toChunks(endLines(rows)));
}

function breakRows(rows: AsyncGenerator<string>, total: number, at: BodyBreak, hangUp: () => void) {
  return streamUntilBreak(toChunks(cutRows(rows, total, at)), at, hangUp);
}

async function* endLines(rows: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const row of rows) yield `${row}\n`;
}

const CHUNK = 64 * 1024;

async function* toChunks(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let text = '';
  for await (const part of texts) {
    text += part;
    if (text.length < CHUNK) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}
