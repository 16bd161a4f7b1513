import type { ApiClient } from '../api/client.js';
import type { Io } from '../io.js';
import type { Landing } from '../landing/landing.js';
import { countItemBytes, cutItemTails, type ItemFile, ItemFiles, listItemFiles } from './item-files.js';
import { readItemPage } from './page.js';

const PAGE_SIZE = 500;

/**
 * Lands the items that changed since a time (section 4, /items with `changedSince`), pages of 500, those that changed
 * last first: in that order an item that changes meanwhile can push others to a later page, never past the reader.
 * What changes behind the fence comes with the next run. An interrupted run goes on at the page it had come to.
 */
export async function landPoll(
  client: ApiClient,
  landing: Landing,
  changedSince: string,
  onFile: (file: ItemFile) => void,
  io: Io,
): Promise<void> {
  const { journal } = landing;
  await cutItemTails(landing, 'poll.page');
  let handed = 0;
  const handOver = () => {
    const files = listItemFiles(landing, 'poll.page');
    for (const file of files.slice(handed)) onFile(file);
    handed = files.length;
  };
  if (journal.last('poll.done') === undefined) {
    const files = new ItemFiles(landing, 'poll.page');
    try {
      let rows = BigInt(journal.all('poll.page').reduce((sum, page) => sum + page.rows, 0));
      for (let page = journal.all('poll.page').length; ; page++) {
        const query = { changedSince, status: 'all', sort: '-lastChanged', size: PAGE_SIZE, page };
        const { body } = await client.bytes('/items', query);
        const answer = readItemPage(body, `/items?page=${page}`);
        const slices = answer.items.map((item) => item.slice);
        const entry = { rows: slices.length, readAt: io.now().toISOString(), calls: client.calls() };
        if (slices.length > 0) await files.land(body, slices, entry);
        rows += BigInt(slices.length);
        const done = slices.length === 0 || page + 1 >= answer.totalPages;
        const bytes = countItemBytes(journal, 'poll.page');
        io.progress({ step: 'poll', rows, totalRows: answer.totalElements, bytes, done });
        if (done) break;
      }
    } finally {
      await files.close();
    }
    await journal.append({ type: 'poll.done', calls: client.calls() });
  }
  handOver();
}
