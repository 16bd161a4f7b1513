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

/** Options of a sandbox. The default plan is `pro`. */
export interface SandboxOptions extends AccountChange {
  /** The port on 127.0.0.1. By default, it is 0, which chooses a free port. */
  port?: number;
  /**
   * The seed of the generated data, 1 by default. Two sandboxes with the same seed have the same data, byte for byte.
   */
  seed?: number;
  /** The number of items; 20,000 by default. */
  items?: number;
  /** The number of websites. Defaults to a number from 8 to 400 that depends on the number of items. */
  sites?: number;
  /** The number of days of past changes to generate: at least 5, and 90 by default. */
  pastDays?: number;
  /** An NDJSON file, optionally gzipped, of Items to serve in place of generated data. */
  dataFile?: string;
  /**
   * An NDJSON file, optionally gzipped, of the Changes that led to the Items in `dataFile`. The sandbox serves them
   * unchanged.
   */
  changesFile?: string;
  /** The number of requests per second; null for no limit. Defaults to the plan's limit. */
  ratePerSecond?: number | null;
  /**
   * The field names of export rows. By default, NDJSON rows are nested as in Item, and CSV rows are flat in camel case.
   */
  exportShape?: ExportShape;
  /** Faults, each as `ENDPOINT:KIND[=ARGUMENT][@WHEN]`, such as `export:drop@1`; see faults/fault-kinds.ts. */
  faults?: readonly string[];
  /** Choices for behavior that the API document leaves open, as `NAME=VALUE`. readings/registry.ts lists them. */
  readings?: readonly string[];
  /** The simulated time at the start, 2026-11-20T06:00:00Z by default. */
  startAt?: Date;
  /** The pace of the clock. It is `frozen` by default, so time moves only when it is advanced. */
  clock?: ClockMode;
  /** Settings of the webhook endpoint (API §6). Without `url`, the endpoint can be set later. */
  webhook?: WebhookOptions & { url?: string };
  /** Returns real time in milliseconds, for rate limits. Defaults to the machine's clock. */
  wallClock?: () => number;
  progress?: Io['progress'];
  /** Wraps the HTTP handler, for tests that need other faults. */
  wrap?: (next: Handler) => Handler;
}

export interface Sandbox {
  /** The address of the server: http://127.0.0.1:PORT */
  baseUrl: string;
  keys: Record<KeyKind, string>;
  /** Replaces the faults and resets their counters. @throws PricelakeError `usage` if a fault is invalid */
  armFaults(specs: readonly string[]): void;
  /**
   * Changes readings for later responses.
   * @throws PricelakeError `usage` if a reading is invalid or fixed at the start
   */
  setReadings(specs: readonly string[]): void;
  changeAccount(change: AccountChange): void;
  advance(options: AdvanceOptions): Promise<AdvanceCounts>;
  /** The customer's webhook endpoint, as the service's portal manages it (API §6). */
  webhook: Webhook;
  /** Returns the expected data for tests: the Items of the live key and all Changes, as JSON, sorted by id. */
  dump(): Promise<{ items: string[]; changes: string[] }>;
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const START_AT = new Date('2026-11-20T06:00:00Z');

/** Starts a service on 127.0.0.1 that implements the API document over generated or loaded data. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  // Checks the options before the data is generated, which takes a while.
  const faults = parseFaults(options.faults ?? []);
  const readings = new Readings(options.readings);
  const { url, anyHost = false } = options.webhook ?? {};
  if (url !== undefined) checkEndpointUrl(url, anyHost);
  const world = await World.create(readings, options.exportShape);
  try {
    const clock = await fillWorld(world, options);
    world.livedUntil = clock.now();
    // Nothing changed for longer than the maximum lag before the start, so the current rows also show the state of that
    // time.
    if (readings.hasLag) world.keepPast(0);
    return await serveWorld(world, clock, faults, options);
  } catch (error) {
    await world.close();
    throw error;
  }
}

/** Fills the world, and returns a clock set to the end of the generated or loaded past. */
async function fillWorld(world: World, options: SandboxOptions): Promise<SimulatedClock> {
  const { seed = 1, items = 20_000, pastDays = 90, clock = 'frozen', startAt = START_AT } = options;
  const io = { progress: options.progress ?? realIo.progress };
  if (options.dataFile !== undefined) {
    const latest = await loadWorld(world, { items: options.dataFile, changes: options.changesFile }, seed, io);
    return new SimulatedClock(options.startAt ?? new Date(Math.ceil(latest / 1000) * 1000 + HOUR_MS), clock);
  }
  const sites = options.sites ?? Math.min(400, Math.max(8, Math.round(items ** 0.4)));
  const made = { seed, items, sites, startAt: startAt.getTime(), pastDays };
  await reportStep(io, { step: 'generating' }, () => generateWorld(world, made));
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
  // Renders rows in advance, so that the first export starts immediately.
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

/** Sets the Date header to the simulated time; Node would send the machine's time. */
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
