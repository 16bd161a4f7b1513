/**
 * Decides the order of a run's work from a seed. Each statement, response and file operation waits in a queue before it
 * starts. When the process is otherwise idle, the seed picks the next one. Code that depends on an order nothing
 * guarantees therefore fails for some seed, and fails again when that seed is repeated.
 *
 * Only the order of whole operations is controlled: statements run one at a time, on one thread, and each operation ends
 * before the next one starts. Overlapping statements occur only in lives without a schedule.
 */
import crypto, { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DuckDBConnection } from '@duckdb/node-api';
import { Database } from '../../src/sql/connection.js';
import { createSeeded, type Seeded } from '../seeded.js';
import { replaceCall } from './replace-call.js';

/** The process counts as idle after this many turns of the event loop without an event. */
const QUIET_TURNS = 8;
/** The same while the service hasn't received all requests, because one may be waiting for another. */
const LATE_TURNS = 200;
/** Matches DuckDB's file names, which contain the time. */
const TIMED_NAME = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const STATEMENTS = ['run', 'runAndReadAll', 'stream'] as const;

interface Waiting {
  what: string;
  go: () => void;
}

export class Schedule {
  #random: Seeded;
  #ids: Seeded;
  readonly #trace = createHash('sha256');
  readonly #waiting: Waiting[] = [];
  readonly #restore: (() => void)[] = [];
  /** The number of statements that DuckDB is running. */
  #running = 0;
  /** Requests without a response. */
  readonly #requests = new Set<unknown>();
  /** How many of them the service has received. */
  #received = 0;
  /** Counts the operations that started to wait, started or ended. */
  #news = 0;
  #isReleasing = false;
  /** The number of operations that have started. */
  turns = 0;

  private constructor(random: Seeded) {
    this.#random = random;
    this.#ids = createSeeded(random.integer(2 ** 31));
  }

  /** Orders this process's work from now on. */
  static begin(random: Seeded): Schedule {
    const schedule = new Schedule(random);
    schedule.#orderStatements();
    schedule.#followRequests();
    schedule.#replace(crypto, 'randomUUID', () => () => schedule.#drawId());
    // Heartbeats would fire at times that differ between runs.
    schedule.#replace(
      globalThis,
      'setInterval',
      (setInterval) =>
        (...args) =>
          (args[1] as number) < 1000 ? setInterval(...args) : setTimeout(() => {}, 0),
    );
    syncBuiltinESMExports();
    return schedule;
  }

  /** Picks with other random values from now on. */
  reseed(random: Seeded): void {
    this.#random = random;
    this.#ids = createSeeded(random.integer(2 ** 31));
  }

  /** Stops ordering the work, and releases all waiting operations. */
  end(): void {
    for (const restore of this.#restore) restore();
    syncBuiltinESMExports();
    for (const { go } of this.#waiting.splice(0)) go();
  }

  /** Waits until the seed picks this operation. `what` must not contain times or names of temporary folders. */
  turn(what: string): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ what, go });
      this.#news++;
      if (!this.#isReleasing) void this.#release();
    });
  }

  /** Waits like `turn`, before the service responds to a request that it has received. */
  async answer(path: string): Promise<void> {
    this.#received++;
    await this.turn(`answer ${path}`);
    this.#received--;
  }

  /** A hash of the operations in their order, so two equal lives have the same trace. */
  get trace(): string {
    return this.#trace.copy().digest('hex').slice(0, 16);
  }

  async #release(): Promise<void> {
    this.#isReleasing = true;
    while (this.#waiting.length > 0) {
      await this.#becomeQuiet();
      const waiting = this.#waiting.sort((a, b) => (a.what < b.what ? -1 : a.what > b.what ? 1 : 0));
      const [next] = waiting.splice(this.#random.integer(waiting.length), 1);
      if (next === undefined) break;
      this.turns++;
      this.#trace.update(`${next.what.replaceAll(TIMED_NAME, '*')}\n`);
      next.go();
    }
    this.#isReleasing = false;
  }

  async #becomeQuiet(): Promise<void> {
    let seen = -1;
    for (let [quiet, still] = [0, 0]; quiet < QUIET_TURNS; quiet++, still++) {
      await nextTurn();
      if (seen !== this.#news || this.#running > 0 || isBusy()) [quiet, still] = [0, 0];
      else if (this.#requests.size > this.#received && still < LATE_TURNS) quiet = 0;
      seen = this.#news;
    }
  }

  #followRequests(): void {
    const follow = (name: string, note: (request: unknown) => void) => {
      const onMessage = (message: unknown) => {
        note((message as { request: unknown }).request);
        this.#news++;
      };
      subscribe(`undici:request:${name}`, onMessage);
      this.#restore.push(() => unsubscribe(`undici:request:${name}`, onMessage));
    };
    follow('create', (request) => this.#requests.add(request));
    for (const end of ['trailers', 'error']) follow(end, (request) => this.#requests.delete(request));
  }

  #orderStatements(): void {
    const schedule = this;
    this.#replace(
      Database.prototype,
      'withSession',
      (withSession) =>
        async function (...args) {
          await schedule.turn('statement');
          return withSession.apply(this, args);
        },
    );
    for (const name of STATEMENTS) {
      this.#replace(
        DuckDBConnection.prototype,
        name,
        (run) =>
          async function (...args) {
            schedule.#running++;
            try {
              return await run.apply(this, args);
            } finally {
              schedule.#running--;
              schedule.#news++;
            }
          },
      );
    }
  }

  #replace(owner: object, name: string, wrap: (call: Call) => Call): void {
    this.#restore.push(replaceCall(owner, name, wrap));
  }

  #drawId(): string {
    const digits = this.#ids.text('0123456789abcdef', 32);
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }
}

type Call = (this: unknown, ...args: unknown[]) => unknown;

/** True while a file operation is in progress. */
function isBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^(FS|CloseReq)/.test(name));
}
