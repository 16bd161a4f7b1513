import { PricelakeError } from '../io/errors.js';
import { type ExportLimits, LIMITS } from '../io/limits.js';
import { readFreeBytes } from '../io/machine.js';

interface Landed {
  rows: bigint;
  bytes: number;
  /** The number of bytes after the end of the last complete row. */
  openBytes: number;
}

/** Rejects an export that has more rows or bytes than `X-Export-Rows` allows, or that doesn't fit on the disk. */
export class ExportBounds {
  readonly #announced: bigint;
  readonly #folder: string;
  readonly #limits: ExportLimits;
  readonly #maxBytes: number;
  #checkedAt = 0;

  constructor(announced: bigint, folder: string, limits: ExportLimits = LIMITS.export) {
    this.#announced = announced;
    this.#folder = folder;
    this.#limits = limits;
    this.#maxBytes = limits.baseBytes + limits.bytesARow * Number(announced);
  }

  /**
   * Checks the size of the body received so far. Must be called before the new bytes are written.
   * @throws PricelakeError `snapshot_incomplete` if more rows arrived than were announced; `contract` if a row or the
   * whole body exceeds its size limit
   */
  admit({ rows, bytes, openBytes }: Landed): void {
    if (rows > this.#announced) {
      throw new PricelakeError(
        'snapshot_incomplete',
        `/export: more rows arrived than the ${this.#announced} that X-Export-Rows announced`,
        { hint: 'Nothing was published. Run the same command again.' },
      );
    }
    const hint =
      'Nothing was published. Report this to the service; for the limits, see docs/reference/answers.md, "Limits".';
    if (openBytes > this.#limits.lineBytes) {
      throw new PricelakeError(
        'contract',
        `/export: row ${rows + 1n}, which begins at byte ${bytes - openBytes}, is still incomplete after ${openBytes} bytes, but the limit is ${this.#limits.lineBytes}`,
        { hint },
      );
    }
    if (bytes > this.#maxBytes) {
      throw new PricelakeError(
        'contract',
        `/export: ${bytes} bytes arrived for ${this.#announced} rows, but the limit is ${this.#maxBytes}`,
        { hint },
      );
    }
  }

  /** Throws `disk_full` if the rest of the export, and the files computed from it, don't fit on the disk. */
  async requireRoom({ rows, bytes }: Omit<Landed, 'openBytes'>): Promise<void> {
    const { stepBytes, reserveBytes, workShare } = this.#limits;
    if (bytes < this.#checkedAt + stepBytes) return;
    this.#checkedAt = bytes;
    const free = await readFreeBytes(this.#folder);
    if (free >= reserveBytes + bytes * workShare) return;
    const whole = rows === 0n ? bytes : Math.max(bytes, (bytes / Number(rows)) * Number(this.#announced));
    const needed = Math.ceil(whole - bytes + whole * workShare + reserveBytes);
    throw new PricelakeError(
      'disk_full',
      `${this.#folder}: ${showMegabytes(free)} free, but the rest of the export and the files made from it need about ${showMegabytes(needed)}; published data is unaffected`,
      {
        freeBytes: free,
        neededBytes: needed,
        hint: 'Free up that much space or move the lake to a larger disk, then run the same command again.',
      },
    );
  }
}

function showMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
