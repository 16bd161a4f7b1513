import { type Html, html } from '../formats/html.js';
import type { Page, PageRequest } from './page.js';
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
  if (!snapshot.isPastReady) {
    await Promise.race([snapshot.past, new Promise((resolve) => setTimeout(resolve, WAIT_MS).unref())]);
  }
  if (!snapshot.isPastReady) {
    const render = () =>
      html`<p class="soft" role="status">The prices of the past are being prepared (once per run). This page loads again by itself.</p>`;
    return { answer: undefined, render, again: { again: AGAIN_SECONDS } };
  }
  const answer = await ask(question);
  return { answer, render: (view) => renderAnswer(answer, question, view), again: {} };
}

/** Small lakes take less. */
const WAIT_MS = 700;
