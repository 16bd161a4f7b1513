import { refuseKey, setLimitHeaders } from '../http/admit-caller.js';
import { type ApiError, type LimitName, refuseByLimit } from '../http/answers.js';
import type { Service } from '../http/caller.js';
import { advanceWorld } from '../world/advance-world.js';
import { cutBytes, cutRows, findBreak, streamUntilBreak } from './break-body.js';
import { chooseRowEdit, type ExportFormat, editJson, type RowEdit, readRows } from './edit-body.js';
import type { FaultEffect } from './fault.js';
import type { FaultEndpoint } from './fault-kinds.js';

/** The path prefix of the targets of redirects. Requests with this prefix are served without faults. */
const REDIRECTED = '/redirected';

/** Serves a request without faults. @param midExport is called after half of an export's rows */
type FaultlessHandler = (request: Request, midExport?: () => Promise<void>) => Promise<Response>;

/** Patterns of paths with more than one segment. */
const LONG_PATHS: [RegExp, FaultEndpoint][] = [
  [/^changes\/recent$/, 'recent'],
  [/^items\/[^/]+$/, 'item'],
  [/^items\/[^/]+\/history$/, 'history'],
  [/^products\/[^/]+$/, 'product'],
];

/**
 * Wraps the service, and applies faults to requests.
 * @param findHangUp returns a function that closes the connection
 */
export function injectFaults(service: Service, next: FaultlessHandler, findHangUp: () => () => void) {
  const plan = service.faults;
  return async (request: Request): Promise<Response> => {
    // Skips parsing the URL if no faults are set, which is the usual case.
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
  const rest = /^\/api\/v1\/(.*)$/.exec(path)?.[1] ?? '';
  if (/^(datasets|facets|items|changes|products|export|plan)$/.test(rest)) return rest as FaultEndpoint;
  return LONG_PATHS.find(([pattern]) => pattern.test(rest))?.[1] ?? null;
}

/**
 * Returns a function that applies a `move` fault: it advances the world by an hour with a given number of changes.
 * Returns undefined if there is no such fault.
 */
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
  const chunks = toChunks(at === null ? endLines(edited) : cutRows(edited, announced, at));
  return new Response(at === null ? ReadableStream.from(chunks) : streamUntilBreak(chunks, at, hangUp), { headers });
}

async function* editRows(rows: AsyncIterable<string>, edits: RowEdit[], format: ExportFormat): AsyncGenerator<string> {
  let n = format === 'csv' ? 0 : 1;
  for await (const row of rows) {
    if (n === 0) yield edits.reduce((line, edit) => edit.header?.(line) ?? line, row);
    else yield* edits.reduce((lines, edit) => lines.flatMap((line) => edit.row(line, n)), [row]);
    n++;
  }
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

/** Returns the response that a fault sends in place of the service's response, or null if the service responds. */
function answerFault(effect: FaultEffect, request: Request, service: Service): Response | null {
  const { kind, argument } = effect;
  if (kind === 'html') return answerHtml(argument);
  if (kind === 'redirect') return answerRedirect(argument, new URL(request.url));
  if (kind === '401') return answerRefusal(refuseKey(), request, service);
  if (kind !== '402' && kind !== '429') return null;
  return answerRefusal(refuseLimit(kind === '402' ? 402 : 429, argument, service), request, service);
}

/** Builds an HTML error page like that of a proxy, without the headers that the service would send. */
function answerHtml(status: number): Response {
  const page = `<!doctype html><html><head><title>${status}</title></head><body><h1>${status} Upstream error</h1></body></html>\n`;
  return new Response(page, { status, headers: { 'Content-Type': 'text/html; charset=utf-8' } });
}

function answerRedirect(host: 'same' | 'other', url: URL): Response {
  // Clients treat localhost and 127.0.0.1 as different hosts, although both lead to this server.
  if (host === 'other') url.hostname = url.hostname === 'localhost' ? '127.0.0.1' : 'localhost';
  url.pathname = REDIRECTED + url.pathname;
  return new Response(null, { status: 307, headers: { Location: url.href } });
}

function answerRefusal(error: ApiError, request: Request, service: Service): Response {
  const response = error.toResponse();
  setLimitHeaders(response.headers, service, service.account.identify(request.headers.get('authorization')));
  return response;
}

function refuseLimit(status: 402 | 429, limit: LimitName, { account }: Service): ApiError {
  const wait = limit === 'ratePerSecond' ? 1 : account.secondsTo(account.usage.resetsAt);
  const message = `This request exceeds the ${limit} limit of the ${account.plan.code} plan.`;
  return refuseByLimit(status, account.plan, limit, message, status === 429 ? wait : undefined);
}
