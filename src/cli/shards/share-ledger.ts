import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { int64 } from '../../api/wire-types.js';
import { hasSystemCode, PricelakeError } from '../../io/errors.js';
import type { BudgetShare, ShareUse } from '../../plan/budget-share.js';
import { toJsonText } from '../json-text.js';

const written = z.strictObject({
  /** The end of the month to which the counts belong, in ISO 8601; null until the account's plan has been read. */
  resetsAt: z.string().nullable(),
  calls: int64,
  exportRows: int64,
  blocks: int64,
});
type Written = z.output<typeof written>;

const NONE: Written = { resetsAt: null, calls: 0n, exportRows: 0n, blocks: 0n };

/**
 * Records how much of the monthly budget a shard has used, in a file next to the shard's lake. A call is recorded
 * before it is sent. Even if the process is killed, no more calls have been made than were recorded.
 */
export class ShareLedger implements BudgetShare {
  readonly shard: string;
  readonly part: number;
  readonly #file: string;
  /**
   * The number of calls that this process has made. They belong to the month of the first plan that the process reads.
   */
  #calls = 0n;

  constructor(shard: string, part: number, file: string) {
    this.shard = shard;
    this.part = part;
    this.#file = file;
  }

  readonly cap = {
    begin: () => this.#count(1n),
    end: (reached: boolean) => {
      if (!reached) this.#count(-1n);
    },
  };

  readUse(resetsAt: Date): ShareUse {
    const month = resetsAt.toISOString();
    const now = this.#read();
    if (now.resetsAt === month) return now;
    // Calls that were made before a plan was read count toward this month.
    const calls = now.resetsAt === null ? now.calls : this.#calls;
    return this.#write({ ...NONE, resetsAt: month, calls });
  }

  noteExport(rows: bigint, blocks: bigint): void {
    const now = this.#read();
    this.#write({ ...now, exportRows: now.exportRows + rows, blocks: now.blocks + blocks });
  }

  #count(calls: bigint): void {
    this.#calls += calls;
    const now = this.#read();
    this.#write({ ...now, calls: now.calls + calls });
  }

  #read(): Written {
    let text: string;
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch (error) {
      if (hasSystemCode(error, 'ENOENT')) return NONE;
      throw error;
    }
    const parsed = written.safeParse(parse(text));
    if (parsed.success) return parsed.data;
    throw new PricelakeError('config', `${this.#file} is damaged, so the usage of the ${this.shard} shard is unknown`, {
      hint: 'Delete the file. The shard may then use its full share again this month.',
    });
  }

  #write(use: Written): Written {
    const temporary = `${this.#file}.${process.pid}`;
    writeFileSync(temporary, `${toJsonText(use)}\n`);
    renameSync(temporary, this.#file);
    return use;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
