import { type Html, html } from '../formats/html.js';
import type { MakePage, Page, PageRequest } from './page.js';
import type { Answer, Question } from './question.js';
import { renderAnswer, type TableView } from './table.js';

/** The answer to a question about the past, or its place while the prices of the past are being prepared. */
export interface PastAnswer {
  /** Undefined while they are. */
  answer: Answer | undefined;
  render(view: TableView): Html;
  /** A member of the page. */
  again: Pick<Page, 'again'>;
}

const AGAIN_SECONDS = 2;

/** Asks at once if price spells are prepared. Otherwise the page comes without the rows, and the browser asks again. */
export async function askPast({ snapshot, ask }: PageRequest, question: Question): Promise<PastAnswer> {
  if (!snapshot.isWhole) {
    await Promise.race([snapshot.whole, snapshot.version.prepared.soon]);
  }
  if (!snapshot.isWhole) {
    return { answer: undefined, render: () => tellWaiting('The prices of the past'), again: { again: AGAIN_SECONDS } };
  }
  const answer = await ask(question);
  return { answer, render: (view) => renderAnswer(answer, question, view), again: {} };
}

const tellWaiting = (what: string): Html =>
  html`<p class="soft" role="status">${what} are being prepared (once per run). This page loads again by itself.</p>`;

/** A page reads products with their offers, or the past and the list as well. */
type Needs = 'products' | 'all';

/** The page as soon as its rows are prepared. Until then it says so, and the browser asks again. */
export function whenPrepared(title: string, needs: Needs, make: MakePage): MakePage {
  return async (request, parameter) => {
    const { snapshot } = request;
    const { prepared } = snapshot.version;
    const isReady = () => (needs === 'all' ? snapshot.isWhole : prepared.isPresentReady);
    if (!isReady()) await Promise.race([needs === 'all' ? snapshot.whole : prepared.present, prepared.soon]);
    return isReady()
      ? make(request, parameter)
      : { title, body: tellWaiting(needs === 'all' ? 'The prices of the past' : 'The products'), again: AGAIN_SECONDS };
  };
}
