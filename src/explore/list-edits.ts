import { createHash, randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { editWatchList, type ListedPrice } from '../analyze/edit-watch-list.js';
import type { WatchListOptions } from '../analyze/watch-list.js';
import { hasSystemCode, PricelakeError } from '../io/errors.js';
import { replaceOutput } from '../io/output-file.js';
import { OwnList } from './own-list.js';
import { ask } from './question.js';
import type { Snapshot } from './snapshot.js';
import { readAll, toNumber } from './values.js';

/** A change to the reader's price list that has not been written yet. */
export interface ListEdit {
  /** The path of the list. */
  file: string;
  before: string | undefined;
  after: string;
  /** The contents of the whole file after the change. */
  text: string;
  /** The SHA-256 digest of the file before the change. */
  digest: string;
}

const MOST_BYTES = 8_000_000;
const MONEY = /^\d{1,14}(?:\.\d{1,4})?$/u;

/**
 * Previews and writes changes to the price list that the `explore` command was started with. Uploaded lists can't be
 * edited, because they are temporary copies of the reader's files.
 */
export class ListEdits {
  readonly #list: WatchListOptions;

  constructor(list: WatchListOptions) {
    this.#list = list;
  }

  /** True if this snapshot shows the price list that the command was started with. */
  shows(snapshot: Snapshot): boolean {
    return snapshot.list?.options.list === this.#list.list;
  }

  /**
   * Returns the change that setting a price would make, without writing it. Parses the changed list in full, so that an
   * invalid list is never written.
   * @throws PricelakeError `usage` if a value is not a valid price, or `config` if the changed list would be invalid
   */
  async preview(snapshot: Snapshot, given: ListedPrice, signal: AbortSignal): Promise<ListEdit> {
    const price = readListed(given);
    const file = this.#list.list;
    const text = await readList(file);
    await snapshot.whole; // waits for a new list to be compared
    const line = await findLine(snapshot, price, signal);
    const edit = { file, digest: hash(text), ...editWatchList(text, price, line) };
    await this.#check(snapshot, edit.text);
    return edit;
  }

  /**
   * Writes a previewed change.
   * @throws PricelakeError as `preview` does, or `usage` if the file has changed since then
   */
  async write(snapshot: Snapshot, given: ListedPrice, digest: string, signal: AbortSignal): Promise<void> {
    const edit = await this.preview(snapshot, given, signal);
    if (edit.digest !== digest) {
      throw new PricelakeError(
        'usage',
        `${edit.file}: the list has changed since the preview, so nothing was written`,
        {
          hint: 'Go back to the product and set the alarm again.',
        },
      );
    }
    await replaceOutput(edit.file, (path) => writeFile(path, edit.text));
  }

  async #check(snapshot: Snapshot, text: string): Promise<void> {
    const file = join(snapshot.scratch, `${randomUUID()}.csv`);
    await writeFile(file, text, { mode: 0o600 });
    try {
      await OwnList.check(snapshot.version, { ...this.#list, list: file });
    } catch (error) {
      if (!(error instanceof PricelakeError)) throw error;
      throw new PricelakeError(error.code, error.message.replaceAll(file, this.#list.list), error.facts, {
        cause: error,
      });
    } finally {
      await rm(file, { force: true });
    }
  }
}

/** Returns the number of the line for a product and currency in the list, or undefined if the list has no such line. */
async function findLine(snapshot: Snapshot, price: ListedPrice, signal: AbortSignal): Promise<number | undefined> {
  const lines = await ask(snapshot, { analysis: 'watched_lines', set: { product: price.product }, limit: 20 }, signal);
  const own = readAll(lines).find((read) => read('currency') === price.currency);
  return own === undefined ? undefined : toNumber(own('line'));
}

function readListed({ product, currency, ...amounts }: ListedPrice): ListedPrice {
  const read = (name: keyof typeof amounts, isRequired = false) => {
    const amount = amounts[name].trim().replace(/^(\d+),(\d{1,4})$/u, '$1.$2');
    if (amount === '' ? !isRequired : MONEY.test(amount)) return amount;
    throw new PricelakeError('usage', `${NAMES[name]} "${amount}" is not a valid price. Enter a number such as 12.99.`);
  };
  if (product.trim() === '' || product.length > 200) throw new PricelakeError('usage', 'An alarm needs a product.');
  if (!/^[A-Z]{3}$/u.test(currency)) throw new PricelakeError('usage', 'An alarm needs a currency such as EUR.');
  return { product, currency, price: read('price', true), lowest: read('lowest'), highest: read('highest') };
}

const NAMES = { price: 'Your price', lowest: 'The lowest allowed price', highest: 'The highest allowed price' };

async function readList(file: string): Promise<string> {
  try {
    const bytes = await readFile(file);
    if (bytes.length > MOST_BYTES)
      throw new PricelakeError('usage', `${file}: the list is too large to be changed on a page`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'EISDIR', 'EACCES') && !(cause instanceof TypeError)) throw cause;
    throw new PricelakeError('usage', `${file}: can't read the list`, {}, { cause });
  }
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
