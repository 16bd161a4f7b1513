import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { formatCount } from '../formats/count.js';
import { html } from '../formats/html.js';
import { productPath } from './cells.js';
import type { ListEdits } from './list-edits.js';
import type { Page } from './page.js';
import { readListed } from './pages/alarm.js';
import type { SavedViews } from './saved-views.js';
import type { Snapshot } from './snapshot.js';
import { MOST_LIST_BYTES, type Uploads } from './upload.js';

/** The data that readers can change on their own server. A shared server is read-only. */
export interface Writable {
  uploads: Uploads;
  /** The saved views; undefined if the lake is not a local folder, because the views would be lost. */
  views: SavedViews | undefined;
  /** The changes to the price list; undefined if the command was started without a list. */
  edits: ListEdits | undefined;
}

interface Answering {
  /** Answers a request, and renders errors as pages. */
  answer(c: Context, work: (snapshot: Snapshot) => Promise<Response>): Promise<Response>;
  show(c: Context, page: Page): Promise<Response>;
}

const MOST_FORM_BYTES = 20_000;

/** Adds the routes that change data. Each route receives a form from one of this server's pages. */
export function addWrites(app: Hono, { uploads, views, edits }: Writable, { answer, show }: Answering): void {
  const isTooLarge = (c: Context) => show(c, tellTooLarge());
  app.post('/list', bodyLimit({ maxSize: MOST_LIST_BYTES, onError: isTooLarge }), (c) =>
    answer(c, async () => {
      await uploads.take(await c.req.formData());
      return c.redirect('/list', 303);
    }),
  );
  const small = bodyLimit({ maxSize: MOST_FORM_BYTES });
  if (edits !== undefined) {
    app.post('/alarm', small, (c) =>
      answer(c, async (snapshot) => {
        const form = await c.req.formData();
        const listed = readListed((name) => readField(form, name));
        await edits.write(snapshot, listed, readField(form, 'digest'), c.req.raw.signal);
        return c.redirect(productPath(listed.product, listed.currency), 303);
      }),
    );
  }
  if (views === undefined) return;
  app.post('/views', small, (c) =>
    answer(c, async () => {
      const form = await c.req.formData();
      const { address } = await views.save(readField(form, 'name'), readField(form, 'address'));
      return c.redirect(address, 303);
    }),
  );
  app.post('/views/remove', small, (c) =>
    answer(c, async () => {
      await views.remove(readField(await c.req.formData(), 'name'));
      return c.redirect('/views', 303);
    }),
  );
}

/** Returns a text field of a form, or an empty string if the field is missing or a file. */
function readField(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

const tellTooLarge = (): Page => ({
  title: 'This list is too large',
  body: html`<p>A list has at most ${formatCount(MOST_LIST_BYTES / 1_000_000)} MB. Start <code>pricelake explore --list FILE</code> with a larger list.</p>`,
});
