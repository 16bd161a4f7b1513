import { Writable } from 'node:stream';

/** stderr in memory; a terminal when `isTTY`. */
export class MemoryStream extends Writable {
  text = '';
  readonly isTTY: boolean;

  constructor(isTTY = false) {
    super();
    this.isTTY = isTTY;
  }

  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
