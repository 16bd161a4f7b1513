import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/**
 * What happens to a request: `lost` answers nothing after it took effect, `cut` sends half of the body, `slow` pauses in
 * it, `endless` has no end. `dropped` forgets the parts of all files before it takes effect.
 */
export type Fault = 'cut' | 'dropped' | 'endless' | 'hang' | 'reset' | 'lost' | 'slow' | '500' | '503' | undefined;

/** The pause of an answer that is slow. */
const SLOW_MS = 300;

/** A request as faults see it. */
export interface Asked {
  method: string;
  /** In the bucket. */
  key: string;
  /** Counts all requests, from 1. */
  count: number;
  /** The bytes of its body, once they have arrived. */
  sent?: number;
}

interface Held {
  bytes: Buffer;
  etag: string;
  writtenAt: Date;
}

/** An S3 server in this process: one bucket, with conditional writes, multipart uploads, listings in pages, and faults. */
export interface S3Server {
  endpoint: string;
  objects: Map<string, Held>;
  asked: Asked[];
  /** Headers of all requests, to look for secrets. */
  headers: string[];
  fault: (asked: Asked) => Fault | Promise<Fault>;
  /** Ignores `If-None-Match`, as some stores do. */
  ignoresConditions: boolean;
  /** Lists every object, whatever it is asked for. */
  listsAll: boolean;
  /** By which its clock is ahead. */
  aheadMs: number;
  /** By which each answer is late. */
  delayMs: number;
  close(): Promise<void>;
}

export const SECRET = 'a-secret-that-nobody-may-see';

/** Credentials as the environment gives them. @returns what puts the environment back */
export function withCredentials(): () => void {
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  const before = names.map((name) => process.env[name]);
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'key-id', AWS_SECRET_ACCESS_KEY: SECRET });
  return () =>
    names.forEach((name, place) => {
      if (before[place] === undefined) delete process.env[name];
      else process.env[name] = before[place];
    });
}

/** Keys of a page of a listing. */
const PAGE = 50;

export async function startS3(): Promise<S3Server> {
  const server = createServer((request, response) => {
    void answer(s3, uploads, request, response).catch(() => response.destroy());
  });
  const uploads = new Map<string, Map<number, Buffer>>();
  const s3: S3Server = {
    ...(await listen(server)),
    objects: new Map(),
    asked: [],
    headers: [],
    fault: () => undefined,
    ignoresConditions: false,
    listsAll: false,
    aheadMs: 0,
    delayMs: 0,
  };
  return s3;
}

/** Opens a server on any free port of loopback. */
export async function listen(server: Server): Promise<{ endpoint: string; close(): Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

type Uploads = Map<string, Map<number, Buffer>>;
interface Answer {
  status: number;
  body?: string | Buffer;
  headers?: Record<string, string>;
}

async function answer(s3: S3Server, uploads: Uploads, request: IncomingMessage, response: ServerResponse) {
  const url = new URL(request.url ?? '', s3.endpoint);
  const key = decodeURIComponent(url.pathname).split('/').slice(2).join('/');
  const asked: Asked = { method: request.method ?? '', key, count: s3.asked.length + 1 };
  s3.asked.push(asked);
  s3.headers.push(JSON.stringify(request.headers));
  const fault = await s3.fault(asked);
  if (s3.delayMs > 0) await setTimeout(s3.delayMs);
  if (fault === 'reset') return void response.destroy();
  if (fault === 'hang') return undefined;
  if (fault === 'dropped') uploads.clear();
  const bytes = decodeBody(Buffer.concat(await request.toArray()), request);
  asked.sent = bytes.length;
  const isFailed = fault === '500' || fault === '503';
  const done = isFailed
    ? fail(Number(fault), fault === '503' ? 'SlowDown' : 'InternalError')
    : act(s3, uploads, url, key, request, bytes);
  if (fault === 'lost') return void response.destroy();
  return send(s3, request, response, done, fault);
}

async function send(
  s3: S3Server,
  request: IncomingMessage,
  response: ServerResponse,
  done: Answer,
  fault: Fault,
): Promise<void> {
  if (fault === 'endless') return sendEndlessly(response, done);
  const body = Buffer.from(done.body ?? '');
  response.writeHead(done.status, {
    date: now(s3).toUTCString(),
    'content-length': String(body.length),
    ...done.headers,
  });
  await sendBody(response, body, request.method === 'HEAD' ? undefined : fault);
}

/** Sends a body, or half of it before the fault. */
export async function sendBody(response: ServerResponse, body: Buffer, fault: Fault): Promise<void> {
  if (fault !== 'cut' && fault !== 'slow') return void response.end(body);
  const half = body.length >> 1;
  response.write(body.subarray(0, half), () => {
    if (fault === 'cut') response.destroy();
  });
  if (fault !== 'slow') return;
  await setTimeout(SLOW_MS);
  response.end(body.subarray(half));
}

/** Until the client has gone. */
async function sendEndlessly(response: ServerResponse, { status, body, headers }: Answer): Promise<void> {
  response.writeHead(status, headers);
  response.write(body ?? '');
  const piece = Buffer.alloc(1024 * 1024, ' ');
  while (!response.destroyed) if (!response.write(piece)) await once(response, 'drain').catch(() => {});
}

function act(s3: S3Server, uploads: Uploads, url: URL, key: string, request: IncomingMessage, bytes: Buffer): Answer {
  const { searchParams: query } = url;
  if (request.headers.authorization === undefined) return fail(403, 'AccessDenied');
  if (!url.pathname.startsWith('/bucket')) return fail(404, 'NoSuchBucket');
  if (key === '') return list(s3, query);
  const upload = query.get('uploadId');
  if (request.method === 'POST' && query.has('uploads')) {
    const id = `upload-${randomUUID()}`;
    uploads.set(id, new Map());
    return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }
  if (upload !== null) return actOnUpload(s3, uploads, upload, Number(query.get('partNumber')), key, request, bytes);
  if (request.method === 'PUT') return put(s3, key, bytes, request.headers['if-none-match']);
  if (request.method === 'DELETE') {
    s3.objects.delete(key);
    return { status: 204 };
  }
  const object = s3.objects.get(key);
  if (object === undefined) return fail(404, 'NoSuchKey');
  return {
    status: 200,
    body: object.bytes,
    headers: { etag: object.etag, 'last-modified': object.writtenAt.toUTCString() },
  };
}

function actOnUpload(
  s3: S3Server,
  uploads: Uploads,
  id: string,
  part: number,
  key: string,
  request: IncomingMessage,
  bytes: Buffer,
): Answer {
  const parts = uploads.get(id);
  if (parts === undefined) return fail(404, 'NoSuchUpload');
  if (request.method === 'PUT') {
    parts.set(part, bytes);
    return { status: 200, headers: { etag: tag(bytes) } };
  }
  uploads.delete(id);
  if (request.method === 'DELETE') return { status: 204 };
  const whole = [...parts].sort(([a], [b]) => a - b).map(([, bytes]) => bytes);
  put(s3, key, Buffer.concat(whole), undefined);
  return xml('<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>');
}

function put(s3: S3Server, key: string, bytes: Buffer, condition: string | undefined): Answer {
  if (condition === '*' && !s3.ignoresConditions && s3.objects.has(key)) return fail(412, 'PreconditionFailed');
  s3.objects.set(key, { bytes, etag: tag(bytes), writtenAt: now(s3) });
  return { status: 200, headers: { etag: tag(bytes) } };
}

function list(s3: S3Server, query: URLSearchParams): Answer {
  const [prefix, after] = [s3.listsAll ? '' : (query.get('prefix') ?? ''), query.get('continuation-token') ?? ''];
  const keys = [...s3.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, PAGE);
  // In no order, as directory buckets list.
  const contents = page.toReversed().map((key) => {
    const { bytes, writtenAt } = s3.objects.get(key) as Held;
    return `<Contents><Key>${escapeXml(key)}</Key><Size>${bytes.length}</Size><LastModified>${writtenAt.toISOString().replace(/\.\d+/, '.000')}</LastModified></Contents>`;
  });
  const more =
    keys.length > PAGE ? `<NextContinuationToken>${escapeXml(page.at(-1) ?? '')}</NextContinuationToken>` : '';
  return xml(
    `<ListBucketResult><IsTruncated>${keys.length > PAGE}</IsTruncated>${more}${contents.join('')}</ListBucketResult>`,
  );
}

/** Decodes bodies that SDKs send in pieces followed by a checksum (`aws-chunked`). */
function decodeBody(body: Buffer, { headers }: IncomingMessage): Buffer {
  if (headers['content-encoding'] !== 'aws-chunked') return body;
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.subarray(at, end).toString(), 16);
    if (!(size > 0)) return Buffer.concat(pieces);
    pieces.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

const now = ({ aheadMs }: S3Server) => new Date(Date.now() + aheadMs);
const tag = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`;
const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const xml = (body: string): Answer => ({
  status: 200,
  body: `<?xml version="1.0"?>${body}`,
  headers: { 'content-type': 'application/xml' },
});
const fail = (status: number, code: string): Answer => ({ ...xml(`<Error><Code>${code}</Code></Error>`), status });
