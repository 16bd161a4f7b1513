import { type Html, html } from '../formats/html.js';
import { PricelakeError } from '../io/errors.js';
import { isLostFile } from '../lake/file-fault.js';
import type { MakePage, Page, PageRequest } from './page.js';
import type { Answer, Question } from './question.js';
import type { Snapshot } from './snapshot.js';
import { RETRY_MS } from './snapshots.js';
import { renderAnswer, type TableView } from './table.js';

/** The answer to a query about past prices, or a placeholder while these prices are being prepared. */
export interface PastAnswer {
  /** The answer; undefined while rows are being prepared. */
  answer: Answer | undefined;
  render(view: TableView): Html;
  /** Fields to add to the page. They make the browser reload the page if rows are still being prepared. */
  again: Pick<Page, 'again'>;
}

const AGAIN_SECONDS = 2;

/**
 * Runs a query about past prices if they have already been computed. Otherwise returns a placeholder, and makes the
 * browser reload the page.
 */
export async function askPast({ snapshot, ask }: PageRequest, question: Question): Promise<PastAnswer> {
  const { version } = snapshot;
  // Waits until the price moves are computed, because running a query at the same time would need too much memory.
  const isReady = () => snapshot.isWhole && version.keeping === undefined;
  if (!isReady()) await waitSoon(Promise.all([snapshot.whole, version.keeping]), snapshot);
  if (!isReady()) {
    return { answer: undefined, render: () => tellWaiting('The prices of the past'), again: { again: AGAIN_SECONDS } };
  }
  const answer = await ask(question);
  return { answer, render: (view) => renderAnswer(answer, question, view), again: {} };
}

/** Waits up to a second for rows to be prepared. @throws PricelakeError `unavailable` if preparing them failed */
async function waitSoon(made: Promise<unknown>, { version }: Snapshot): Promise<void> {
  try {
    await Promise.race([made, version.prepared.soon]);
  } catch (cause) {
    // A run has deleted files of this snapshot, so the caller opens a new one and retries.
    if (!(cause instanceof Error) || isLostFile(cause)) throw cause;
    const message = `the rows that this page needs could not be prepared: ${cause.message}`;
    const hint = `Reload this page after ${RETRY_MS / 1000} seconds to try again.`;
    throw new PricelakeError('unavailable', message, { hint }, { cause });
  }
}

const tellWaiting = (what: string): Html =>
  html`<p class="soft" role="status">${what} are being prepared (once per run). This page loads again by itself.</p>`;

/** The prepared rows that a page needs: only products and offers, or also past prices and the reader's list. */
type Needs = 'products' | 'all';

/** Returns a page that shows a placeholder until its prepared rows are ready. The browser reloads the placeholder. */
export function whenPrepared(title: string, needs: Needs, make: MakePage): MakePage {
  return async (request, parameter) => {
    const { snapshot } = request;
    const { prepared } = snapshot.version;
    const isReady = () => (needs === 'all' ? snapshot.isWhole : prepared.isPresentReady);
    if (!isReady()) await waitSoon(needs === 'all' ? snapshot.whole : prepared.present, snapshot);
    return isReady()
      ? make(request, parameter)
      : { title, body: tellWaiting(needs === 'all' ? 'The prices of the past' : 'The products'), again: AGAIN_SECONDS };
  };
}
