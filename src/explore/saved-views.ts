import { readFile, stat } from 'node:fs/promises';
import * as z from 'zod';
import { stripControls } from '../formats/html.js';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import { writeDurably } from '../lake/durable.js';
import { type Lake, privatePath } from '../tables/layout.js';
import { changeAddress } from './page.js';

/** A page with its filters, saved under a name. */
export interface SavedView {
  name: string;
  /** The path and query of the page. */
  address: string;
}

const MOST_VIEWS = 50;
export const LONGEST_NAME = 60;
const LONGEST_ADDRESS = 2000;
/** The maximum size of the file in bytes. The maximum number of views needs less. */
const MOST_BYTES = 500_000;

/** Matches the path and query of a page on this server, without characters that could break out of an attribute. */
const PAGE = /^\/(?![/\\])[\w/%.~!$&'()*+,;=:@-]*(?:\?[\w%&=+.*-]*)?$/u;

const viewSchema = z.strictObject({
  name: z.string().min(1).max(LONGEST_NAME),
  address: z.string().max(LONGEST_ADDRESS).regex(PAGE),
});
const fileSchema = z.strictObject({ views: z.array(viewSchema).max(MOST_VIEWS) });

/** Saved views, stored in `_pricelake/views.json` in the lake. A view's name never becomes part of a path. */
export class SavedViews {
  readonly #lake: Lake;
  readonly #file: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(lake: Lake) {
    this.#lake = lake;
    this.#file = privatePath(lake, 'views.json');
  }

  /** Returns views sorted by name. @throws PricelakeError `lake_invalid` if the file is damaged or another program's */
  async list(): Promise<readonly SavedView[]> {
    const info = await stat(this.#file).catch(ignoreMissing);
    if (info === undefined) return [];
    const text = info.size > MOST_BYTES ? '' : await readFile(this.#file, 'utf8');
    const read = fileSchema.safeParse(parseJson(text));
    if (read.success) return read.data.views;
    throw new PricelakeError(
      'lake_invalid',
      `${this.#file}: the file doesn't contain saved views in pricelake's format`,
      {
        hint: 'Move the file away. Pages then start without saved views.',
      },
    );
  }

  /**
   * Saves a view, or replaces the view of this name.
   * @throws PricelakeError `usage` if the name or address is invalid, or too many views are saved
   */
  save(name: string, address: string): Promise<SavedView> {
    const view = checkView(name, address);
    return this.#change((views) => {
      const otherViews = views.filter((one) => one.name !== view.name);
      if (otherViews.length >= MOST_VIEWS) {
        throw new PricelakeError('usage', `you can save at most ${MOST_VIEWS} views`, {
          hint: 'Remove one on the Views page first.',
        });
      }
      return [...otherViews, view].sort((a, b) => a.name.localeCompare(b.name, 'en'));
    }).then(() => view);
  }

  remove(name: string): Promise<void> {
    return this.#change((views) => views.filter((one) => one.name !== name));
  }

  /** Runs changes one after another, so that a change never overwrites another one. */
  #change(next: (views: readonly SavedView[]) => SavedView[]): Promise<void> {
    const changed = this.#last.then(async () => {
      const views = next(await this.list());
      await writeDurably(this.#lake, this.#file, `${JSON.stringify({ views }, null, 1)}\n`);
    });
    this.#last = changed.catch(() => {});
    return changed;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function checkView(given: string, address: string): SavedView {
  const name = stripControls(given).replaceAll(/\s+/gu, ' ').trim();
  if (name === '' || name.length > LONGEST_NAME) {
    throw new PricelakeError('usage', `A view needs a name of up to ${LONGEST_NAME} characters.`);
  }
  const view = viewSchema.safeParse({ name, address: writeAddress(address) });
  if (view.success) return view.data;
  const message = `A view is a page of this server, with an address of up to ${LONGEST_ADDRESS} characters.`;
  throw new PricelakeError('usage', message);
}

/** Normalizes the path and query of an address, and removes the token; undefined if it leads to another host. */
function writeAddress(address: string): string | undefined {
  const origin = 'http://pages.invalid';
  if (!address.startsWith('/') || !URL.canParse(address, origin)) return undefined;
  const { origin: own, pathname, searchParams } = new URL(address, origin);
  return own === origin ? changeAddress(pathname, searchParams, { token: '', part: '' }) : undefined;
}
