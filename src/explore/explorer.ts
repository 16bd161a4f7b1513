import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Advice } from '../check/finding.js';
import type { Io } from '../io/io.js';
import { listen, shutDown } from '../io/listen.js';
import { buildApp } from './app.js';
import type { WriteRows } from './download.js';
import { createGuard } from './guard.js';
import { ListEdits } from './list-edits.js';
import type { CopyNow } from './now.js';
import { RateLimit } from './rate-limit.js';
import { SavedViews } from './saved-views.js';
import { type LakeSource, Snapshots, type SnapshotsOptions } from './snapshots.js';
import { Uploads } from './upload.js';

export interface ExplorerOptions extends Omit<SnapshotsOptions, 'report'> {
  host: string;
  /** The port, or 0 to let the system choose a free one. */
  port: number;
  writeRows: WriteRows;
  /** Advice on how to handle findings, keyed by the name of the check that found them. */
  advice: ReadonlyMap<string, Advice>;
  /** The hosts from which the browser may load pictures. */
  pictures: ReadonlySet<string>;
  /** Returns facts about the local copy that its tables don't contain, such as the state of an unfinished run. */
  tellNow(): Promise<CopyNow>;
  /** True for a server with many readers. Such a server is read-only, and limits each reader's requests. */
  isShared: boolean;
}

export interface Explorer {
  /** The address including the token. Anyone who has it can read the lake. */
  url: string;
  close(): Promise<void>;
}

/**
 * Starts a web server that shows a lake as pages.
 * @throws PricelakeError `usage` if the address can't be bound, `lake_invalid` if the lake can't be read
 */
export async function startExplorer(
  source: LakeSource,
  options: ExplorerOptions,
  io: Pick<Io, 'log' | 'now'>,
): Promise<Explorer> {
  const { host, port, writeRows, advice, pictures, tellNow, isShared } = options;
  const report = (error: unknown) =>
    io.log('error', 'explore.failed', { reason: error instanceof Error ? error.message : String(error) });
  const snapshots = new Snapshots(source, { ...options, report });
  await snapshots.renew(); // fails early if the lake can't be read
  let handle: (request: Request, env: object) => Response | Promise<Response> = () =>
    new Response(null, { status: 503 });
  const server = createAdaptorServer({
    fetch: (request: Request, env: object) => handle(request, env),
    overrideGlobalObjects: false,
  }) as Server;
  try {
    await listen(server, host, port);
  } catch (error) {
    await snapshots.close();
    throw error;
  }
  const bound = server.address() as AddressInfo;
  const uploads = new Uploads(snapshots);
  // Views are saved only in a local lake. Copies of a remote lake or of several lakes are cached, and a cache may be
  // deleted.
  const views = source.refresh === undefined ? new SavedViews(source.lake) : undefined;
  const edits = options.list === undefined ? undefined : new ListEdits(options.list);
  const guard = createGuard(host, bound.port);
  const shown = { snapshots, guard, writeRows, advice, pictures, tellNow, now: io.now, report };
  handle = isShared
    ? buildApp({ ...shown, writable: undefined, limit: new RateLimit() }).fetch
    : buildApp({ ...shown, writable: { uploads, views, edits }, limit: undefined }).fetch;
  const named = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const name = named.includes(':') ? `[${named}]` : named;
  return {
    url: `http://${name}:${bound.port}/?token=${guard.token}`,
    async close() {
      await shutDown(server);
      await snapshots.close();
      await uploads.close();
    },
  };
}
