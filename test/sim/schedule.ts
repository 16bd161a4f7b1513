/**
 * The order in which the work of a run happens, exact for each seed. A statement, an answer or a file operation waits in
 * a queue before it begins. Once nothing else goes on in the process, the seed picks the next one. So whatever works only
 * because something else came first goes wrong, and goes wrong again when its seed is repeated.
 *
 * It is exact at this grain: statements run one at a time, on one thread, and a file operation or an answer ends before
 * the next one begins. Two statements never overlap; lives without a schedule have that.
 */
import crypto, { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DuckDBConnection } from '@duckdb/node-api';
import { Database } from '../../src/sql/connection.js';
import { createSeeded, type Seeded } from '../seeded.js';
import { replaceCall } from './replace-call.js';

/** After so many turns of the event loop without news, nothing goes on, and a request waits for another one. */
const QUIET_TURNS = 8;
const LATE_TURNS = 200;
/** DuckDB names files by the time, in the order in which it writes them. */
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
  /** Statements that DuckDB runs. */
  #running = 0;
  /** Requests that are not answered, and those of them that the service has. */
  readonly #requests = new Set<unknown>();
  #received = 0;
  /** Counts whatever begins to wait, begins or ends. */
  #news = 0;
  #isReleasing = false;
  /** How many have begun. */
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
    // Heartbeats would come at moments of the machine.
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

  /** The seed picks by these values from now on. */
  reseed(random: Seeded): void {
    this.#random = random;
    this.#ids = createSeeded(random.integer(2 ** 31));
  }

  /** Work goes on as it comes. */
  end(): void {
    for (const restore of this.#restore) restore();
    syncBuiltinESMExports();
    for (const { go } of this.#waiting.splice(0)) go();
  }

  /** Waits until the seed picks this. `what` has neither times nor the name of a temporary folder. */
  turn(what: string): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ what, go });
      this.#news++;
      if (!this.#isReleasing) void this.#release();
    });
  }

  /** Waits as `turn` does, in the service that has received a request. */
  async answer(path: string): Promise<void> {
    this.#received++;
    await this.turn(`answer ${path}`);
    this.#received--;
  }

  /** Equal for equal orders of the same work. */
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

/** True while a file operation goes on. */
function isBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^(FS|CloseReq)/.test(name));
}
