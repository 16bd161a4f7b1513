import { type FileHandle, open } from 'node:fs/promises';

/**
 * A file of JSON pages, one a line: newlines of a page are white space in JSON (a raw one can't stand in a string)
 * and become spaces. Opened at the end that the journal vouches for; what stands behind it is cut off.
 */
export class PageFile {
  readonly #file: FileHandle;
  #end: number;

  private constructor(file: FileHandle, end: number) {
    this.#file = file;
    this.#end = end;
  }

  static async open(path: string, end: number): Promise<PageFile> {
    const file = await open(path, 'a+');
    await file.truncate(end);
    return new PageFile(file, end);
  }

  /** Appends a page; returns where it ends. Not durable before `sync`. */
  async append(page: Buffer): Promise<number> {
    const line = Buffer.allocUnsafe(page.length + 1);
    page.copy(line);
    for (let i = line.indexOf(0x0a); i >= 0 && i < page.length; i = line.indexOf(0x0a, i + 1)) line[i] = 0x20;
    line[page.length] = 0x0a;
    let written = 0;
    while (written < line.length) {
      written += (await this.#file.write(line, written, line.length - written)).bytesWritten;
    }
    this.#end += line.length;
    return this.#end;
  }

  async sync(): Promise<void> {
    await this.#file.datasync();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
