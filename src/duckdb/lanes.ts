import type { Database } from './connection.js';

const LANES = 2;

/**
 * Sessions that run statements side by side, each on a thread of its own. Within one statement a thread of DuckDB waits
 * actively while another has the only work: a COPY of 150,000 rows into the files of 132 partitions took 1.77 CPU
 * seconds on two threads and 1.07 on one (bench/README.md).
 */
export class Lanes {
  readonly #db: Database;
  readonly #threads: number;
  readonly #free: Database[];
  readonly #all: readonly Database[];
  #waiters: ((lane: Database) => void)[] = [];

  private constructor(db: Database, threads: number, lanes: Database[]) {
    this.#db = db;
    this.#threads = threads;
    this.#all = lanes;
    this.#free = [...lanes];
  }

  /** Undefined on one thread. Until `close`, statements of `db` have a thread less. */
  static async open(db: Database): Promise<Lanes | undefined> {
    const settings = await db.row("SELECT current_setting('threads') AS threads");
    const threads = Number(settings?.threads);
    if (threads < 2) return undefined;
    const lanes: Database[] = [];
    for (let i = 0; i < LANES; i += 1) lanes.push(await db.fork());
    await db.run(`SET threads = ${threads - 1}`);
    return new Lanes(db, threads, lanes);
  }

  /** Runs `work` on the next free lane. */
  async run<T>(work: (lane: Database) => Promise<T>): Promise<T> {
    const lane = this.#free.pop() ?? (await new Promise<Database>((resolve) => this.#waiters.push(resolve)));
    try {
      return await work(lane);
    } finally {
      const next = this.#waiters.shift();
      if (next === undefined) this.#free.push(lane);
      else next(lane);
    }
  }

  /** When no work is under way any more. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((lane) => lane.close()));
    await this.#db.run(`SET threads = ${this.#threads}`);
  }
}
