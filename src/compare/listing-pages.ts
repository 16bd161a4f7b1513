import { listItemFiles } from '../extract/item-files.js';
import { createItemViews } from '../merge/batch.js';
import type { Run } from '../run/open-run.js';

/** Landed pages on their way into view `exported_items`, each once. */
export class ListingPages {
  readonly #run: Run;
  readonly #handed: Set<string>;

  constructor(run: Run) {
    this.#run = run;
    this.#handed = new Set(listItemFiles(run.landing, 'poll').map(({ path }) => path));
  }

  /** Types what has landed since; nothing more may be landing. */
  async type(): Promise<void> {
    const { db, landing, typing } = this.#run;
    for (const page of ['poll', 'listing'] as const) {
      for (const file of listItemFiles(landing, page)) {
        if (this.#handed.has(file.path)) continue;
        this.#handed.add(file.path);
        typing.addItems({ ...file, origin: 'page' });
      }
    }
    await createItemViews(db, await typing.finish());
  }

  /** Types what the poll has landed, and nothing else. */
  async typePoll(): Promise<void> {
    await createItemViews(this.#run.db, await this.#run.typing.finish());
  }
}
