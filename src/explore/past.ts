import { type Html, html } from '../formats/html.js';
import { PricelakeError } from '../io/errors.js';
import { isLostFile } from '../lake/file-fault.js';
import type { MakePage, Page, PageRequest } from './page.js';
import type { Answer, Question } from './question.js';
import type { Snapshot } from './snapshot.js';
import { RETRY_MS } from './snapshots.js';
import { renderAnswer, type TableView } from './table.js';

/** The answer to a question about the past, or a placeholder while the prices of the past are being prepared. */
export interface PastAnswer {
  /** Undefined while rows are being prepared. */
  answer: Answer | undefined;
  render(view: TableView): Html;
  /** Merged into the page, so that the browser asks again. */
  again: Pick<Page, 'again'>;
}

const AGAIN_SECONDS = 2;

/**
 * Asks a question about the past if its rows are prepared. Otherwise the page comes without them, and the browser asks
 * again.
 */
export async function askPast({ snapshot, ask }: PageRequest, question: Question): Promise<PastAnswer> {
  const { version } = snapshot;
  // Questions wait while moves are being kept, because both take much memory.
  const isReady = () => snapshot.isWhole && version.keeping === undefined;
  if (!isReady()) await waitSoon(Promise.all([snapshot.whole, version.keeping]), snapshot);
  if (!isReady()) {
    return { answer: undefined, render: () => tellWaiting('The prices of the past'), again: { again: AGAIN_SECONDS } };
  }
  const answer = await ask(question);
  return { answer, render: (view) => renderAnswer(answer, question, view), again: {} };
}

/** Waits a short time for rows. @throws PricelakeError `unavailable` if they could not be made */
async function waitSoon(made: Promise<unknown>, { version }: Snapshot): Promise<void> {
  try {
    await Promise.race([made, version.prepared.soon]);
  } catch (cause) {
    // Files were lost to a run, so the next snapshot will have others.
    if (!(cause instanceof Error) || isLostFile(cause)) throw cause;
    const message = `the rows that this page needs could not be prepared: ${cause.message}`;
    const hint = `Reload this page after ${RETRY_MS / 1000} seconds to try again.`;
    throw new PricelakeError('unavailable', message, { hint }, { cause });
  }
}

const tellWaiting = (what: string): Html =>
  html`<p class="soft" role="status">${what} are being prepared (once per run). This page loads again by itself.</p>`;

/** The rows that a page needs: products with their offers, or also the past and the list. */
type Needs = 'products' | 'all';

/** Returns the page when its rows are prepared. Until then, a page that says so, and the browser asks again. */
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
