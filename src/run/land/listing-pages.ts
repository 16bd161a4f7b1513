import type { ItemReader, ItemReads } from '../../apply/batch.js';
import { listItemFiles } from '../../source/item-files.js';
import type { Run } from '../open/open-run.js';

/** Landed pages on their way to be typed, each once. */
export class ListingPages {
  readonly #run: Run;
  readonly #reader: ItemReader;
  readonly #handed: Set<string>;

  constructor(run: Run, reader: ItemReader) {
    this.#run = run;
    this.#reader = reader;
    this.#handed = new Set(listItemFiles(run.landing, 'poll').map(({ path }) => path));
  }

  /** Types what has landed since; nothing more may be landing. */
  async type(): Promise<ItemReads> {
    const { landing, typing } = this.#run;
    for (const page of ['poll', 'listing'] as const) {
      for (const file of listItemFiles(landing, page)) {
        if (this.#handed.has(file.path)) continue;
        this.#handed.add(file.path);
        typing.addItems({ ...file, origin: 'page' });
      }
    }
    return this.#reader.exported(await typing.finish());
  }

  /** Types what the poll has landed, and nothing else. */
  async typePoll(): Promise<ItemReads> {
    return this.#reader.exported(await this.#run.typing.finish());
  }
}
