import type { AddressInfo } from 'node:net';
import { type Io, reportStep } from '../io/io.js';
import { shutDown } from '../io/listen.js';
import { realIo } from '../io/real-io.js';
import { type ClockMode, SimulatedClock, speedOf } from './clock.js';
import { type Fault, FaultPlan, parseFaults } from './faults/fault.js';
import { injectFaults } from './faults/inject-faults.js';
import { Account, type AccountChange, type KeyKind } from './http/account.js';
import { setLimitHeaders } from './http/admit-caller.js';
import { buildApp } from './http/app.js';
import { buildCaller, type Service } from './http/caller.js';
import { findHangUp, type Handler, refuseMalformed, serve } from './http/listen.js';
import { changeReadings } from './http/routes-control.js';
import { Readings } from './readings/readings.js';
import { addWebhookRoutes } from './webhooks/routes-webhook.js';
import { checkEndpointUrl, Webhook, type WebhookOptions } from './webhooks/webhook.js';
import { type AdvanceCounts, type AdvanceOptions, advanceWorld, liveOn } from './world/advance-world.js';
import type { ExportShape } from './world/export-rows.js';
import { generateWorld } from './world/generate-world.js';
import { loadWorld } from './world/load-world.js';
import { World } from './world/world.js';

export type { Handler } from './http/listen.js';

/** The account's plan is `pro` by default. */
export interface SandboxOptions extends AccountChange {
  /** 0 (default) takes any free port; the host is always 127.0.0.1. */
  port?: number;
  /** The same seed gives the same world, byte for byte. Default 1. */
  seed?: number;
  /** Default 20,000. */
  items?: number;
  /** Default: grows with the items, from 8 to 400. */
  sites?: number;
  /** Days of changes in a generated world, 5 or more. Default 90. */
  pastDays?: number;
  /** NDJSON or NDJSON.gz of the user's Items, served instead of a generated world. */
  dataFile?: string;
  /** NDJSON or NDJSON.gz of the Changes that led to those Items, served as they are. */
  changesFile?: string;
  /** Requests per second; null is unlimited. Default: the plan's. */
  ratePerSecond?: number | null;
  /** Names of the fields of export rows. Default: NDJSON like Item, CSV flat in camel case. */
  exportShape?: ExportShape;
  /** Each `ENDPOINT:KIND[=ARGUMENT][@WHEN]`, such as `export:drop@1`; faults/fault-kinds.ts has the grammar. */
  faults?: readonly string[];
  /** Behaviour on points that the document leaves open, each `NAME=VALUE`; readings/registry.ts lists them. */
  readings?: readonly string[];
  /** Default 2026-11-20T06:00:00Z. */
  startAt?: Date;
  /** Default `frozen`: moves only by advance. With `real`, or faster with `60x`, time passes by itself. */
  clock?: ClockMode;
  /** The endpoint for events from the start (section 6). Without `url` it can be set up later. */
  webhook?: WebhookOptions & { url?: string };
  /** Milliseconds, for requests per second. Default: the machine's. */
  wallClock?: () => number;
  /** Gets the steps until the sandbox listens. */
  progress?: Io['progress'];
  /** Wraps the HTTP handler, for faults beyond `faults`. */
  wrap?: (next: Handler) => Handler;
}

export interface Sandbox {
  /** http://127.0.0.1:PORT */
  baseUrl: string;
  keys: Record<KeyKind, string>;
  /** Replaces the armed faults and counts requests from 0. Throws PricelakeError `usage`. */
  armFaults(specs: readonly string[]): void;
  /** Holds from the next answer on. Throws PricelakeError `usage`, also for readings that only hold from the start. */
  setReadings(specs: readonly string[]): void;
  /** Holds from the next request on. */
  changeAccount(change: AccountChange): void;
  /** Moves the clock on and lets the world change. */
  advance(options: AdvanceOptions): Promise<AdvanceCounts>;
  /** The customer's endpoint, as the service's portal offers it (section 6). */
  webhook: Webhook;
  /** The truth, for tests: every item of the live key as Item JSON, and all changes as Change JSON, by id. */
  dump(): Promise<{ items: string[]; changes: string[] }>;
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const START_AT = new Date('2026-11-20T06:00:00Z');

/** Starts the service of the API document on 127.0.0.1, over a seeded world. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  // First, because the world takes a while.
  const faults = parseFaults(options.faults ?? []);
  const readings = new Readings(options.readings);
  const { url, anyHost = false } = options.webhook ?? {};
  if (url !== undefined) checkEndpointUrl(url, anyHost);
  const world = await World.create(readings, options.exportShape);
  try {
    const clock = await fillWorld(world, options);
    world.livedUntil = clock.now();
    // The generated past is quiet for longer than any answer lags.
    if (readings.hasLag) world.keepPast(0);
    return await serveWorld(world, clock, faults, options);
  } catch (error) {
    await world.close();
    throw error;
  }
}

/** Returns the clock at the end of the world's past. */
async function fillWorld(world: World, options: SandboxOptions): Promise<SimulatedClock> {
  const { seed = 1, items = 20_000, pastDays = 90, clock = 'frozen', startAt = START_AT } = options;
  const io = { progress: options.progress ?? realIo.progress };
  if (options.dataFile !== undefined) {
    const latest = await loadWorld(world, { items: options.dataFile, changes: options.changesFile }, seed, io);
    return new SimulatedClock(options.startAt ?? new Date(Math.ceil(latest / 1000) * 1000 + HOUR_MS), clock);
  }
  const sites = options.sites ?? Math.min(400, Math.max(8, Math.round(items ** 0.4)));
  const made = { seed, items, sites, startAt: startAt.getTime(), pastDays };
  await reportStep(io, { step: 'inventing' }, () => generateWorld(world, made));
  return new SimulatedClock(startAt, clock);
}

async function serveWorld(
  world: World,
  clock: SimulatedClock,
  faults: Fault[],
  options: SandboxOptions,
): Promise<Sandbox> {
  const { seed = 1, plan = 'pro', overage, revoked, overdueDays, wallClock = () => performance.now() } = options;
  const limits = { ...options.limits };
  if (options.ratePerSecond !== undefined) limits.ratePerSecond = options.ratePerSecond;
  const account = new Account(clock, seed, { plan, limits, overage, revoked, overdueDays }, wallClock);
  const service: Service = { world, clock, account, faults: new FaultPlan(seed, faults), readings: world.readings };
  // Rendered now, so that the first export starts at once.
  const io = { progress: options.progress ?? realIo.progress };
  await reportStep(io, { step: 'preparing' }, () => world.rows(buildCaller(service, 'live').view, 'json'));
  const app = buildApp(service);
  const webhook = new Webhook(service, { timeScale: speedOf(clock.mode) || 1, ...options.webhook });
  addWebhookRoutes(app, webhook);
  const handle: Handler = injectFaults(
    service,
    async (request, midExport) => app.fetch(request, midExport === undefined ? {} : { midExport }),
    findHangUp,
  );
  const dated = dateAnswers(handle, clock);
  const server = await serve(options.wrap?.(dated) ?? dated, options.port ?? 0);
  refuseMalformed(server, (headers) => setLimitHeaders(headers, service, null));
  if (options.webhook?.url !== undefined) await webhook.set({ url: options.webhook.url });
  const stop = new AbortController();
  const living = clock.isRunning ? liveOn(world, clock, stop.signal) : undefined;
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: account.keys,
    armFaults: (specs) => service.faults.arm(parseFaults(specs)),
    setReadings: (specs) => changeReadings(service, specs),
    changeAccount: (change) => account.change(change),
    advance: (step) => advanceWorld(world, clock, step),
    webhook,
    dump: () => dumpWorld(world),
    async close() {
      stop.abort();
      await living;
      await webhook.close();
      await shutDown(server);
      await world.close();
    },
  };
}

/** Node would send the machine's time as `Date`. */
function dateAnswers(handle: Handler, clock: SimulatedClock): Handler {
  return async (request) => {
    const answer = await handle(request);
    answer.headers.set('date', new Date(clock.now()).toUTCString());
    return answer;
  };
}

async function dumpWorld(world: World): Promise<{ items: string[]; changes: string[] }> {
  const view = world.view(world.facts.datasets);
  const rows = await world.rows(view, 'json');
  const visible = await world.database.use((session) =>
    session.integers('SELECT n FROM items WHERE mask & $mask::INTEGER <> 0 ORDER BY n', { mask: view.mask }),
  );
  return {
    items: Array.from(visible, (row) => rows.row(row).toString()),
    changes: Array.from({ length: world.feed.length }, (_, row) => world.feed.rows.row(row).toString()),
  };
}
