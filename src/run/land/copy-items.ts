import { PricelakeError } from '../../io/errors.js';
import { dropRun, type Landing } from '../../journal/landings.js';
import { requireDisk } from '../../plan/disk.js';
import type { CopyPlan, PollPlan } from '../../plan/plan-copy.js';
import { listParts } from '../../source/dataset-client.js';
import { listEndedSegments } from '../../source/export-shard.js';
import type { ItemFile } from '../../source/item-files.js';
import { landPoll, reopenPoll } from '../../source/poll.js';
import { landSnapshot } from '../../source/snapshot.js';
import type { TypingQueue } from '../../typing/typing-queue.js';
import type { FoundLake, World } from '../open/run-parts.js';
import type { PlannedRun } from '../plan/open-plan.js';

/** Copies items as the run's plan requires, and passes the landed files to the typing queue. */
export class ItemCopy {
  readonly #world: World;
  readonly #found: FoundLake;
  readonly #landing: Landing;
  readonly #typing: TypingQueue;
  readonly #planned: PlannedRun;

  constructor(world: World, found: FoundLake, landing: Landing, typing: TypingQueue, planned: PlannedRun) {
    this.#world = world;
    this.#found = found;
    this.#landing = landing;
    this.#typing = typing;
    this.#planned = planned;
  }

  /**
   * Copies all items by exports or pages, as the plan requires. If the service truncates an export, keeps its rows. If
   * the copy is refused before any data has landed, removes the run.
   */
  landAll(): Promise<void> {
    return this.#landAll().catch((error) => dropRefused(this.#landing, error));
  }

  async #landAll(): Promise<void> {
    for (const segment of listEndedSegments(this.#landing)) this.#typing.addItems(segment);
    for (;;) {
      const { copy } = await this.#planned.planner.plan('counts', 'listed');
      if (copy === undefined) return;
      if (copy.choice.route === 'wait') throw copy.choice.refusal;
      // Requires disk space only for rows that must still be downloaded, because landed rows are already on the disk.
      const items = copy.choice.route === 'pages' ? copy.items : copy.exportRows;
      await requireDisk(this.#found.lake.root, { items, changes: 0n });
      await this.#noteChoice(copy);
      if (copy.shards === undefined) return this.#readPages(copy);
      try {
        return await this.#export(copy, copy.shards);
      } catch (error) {
        // Shards download in parallel. If the quota runs out, the gate refuses all exports after the truncated one.
        if (!isOutOfRows(error)) throw error;
        this.#planned.planner.note({ cut: error });
      }
    }
  }

  async #noteChoice({ choice, isChosen }: CopyPlan): Promise<void> {
    const { client, io } = this.#world;
    if (isChosen || choice.route === 'wait') return;
    io.log(choice.route === 'export' ? 'debug' : 'info', 'copy.chosen', { ...choice });
    const { route: way, reason } = choice;
    await this.#landing.journal.append({ type: 'chosen', what: 'copy', way, reason, calls: client.calls() });
  }

  #readPages({ datasets }: CopyPlan): Promise<void> {
    const { client, io } = this.#world;
    const poll = { changedSince: undefined, untilSettled: true };
    return landPoll(listParts(client, datasets), this.#landing, poll, (file) => this.#typePages(file), io);
  }

  async #export(copy: CopyPlan, shards: NonNullable<CopyPlan['shards']>): Promise<void> {
    const { client, io } = this.#world;
    await this.#noteShards(copy, shards);
    const options = { shards, format: this.#found.pipeline.source.export, gate: this.#planned.gate };
    await landSnapshot(listParts(client, copy.datasets), this.#landing, options, this.#typing, io);
    if (copy.settling !== undefined) await this.poll(copy.settling);
  }

  /** Journals the shards, because later attempts must use the same shards to reuse complete exports. */
  async #noteShards({ shardReason: reason }: CopyPlan, shards: NonNullable<CopyPlan['shards']>): Promise<void> {
    if (reason === undefined) return;
    const { client, io } = this.#world;
    await this.#landing.journal.append({ type: 'shards', shards, reason, calls: client.calls() });
    io.log(shards.length > 1 ? 'info' : 'debug', 'export.planned', { exports: shards.length, reason });
  }

  /** Lands the items that changed since a time. */
  async poll({ datasets, since: changedSince, untilSettled, reopens }: PollPlan): Promise<void> {
    const { client, io } = this.#world;
    const parts = listParts(client, datasets);
    if (reopens && changedSince !== undefined) await reopenPoll(this.#landing, parts, changedSince);
    await landPoll(parts, this.#landing, { changedSince, untilSettled }, (file) => this.#typePages(file), io);
  }

  #typePages(file: ItemFile): void {
    this.#typing.addItems({ ...file, origin: 'page' });
  }
}

/** True if the monthly row limit stopped an export. The service truncated it, or the gate refused to start it. */
function isOutOfRows(error: unknown): error is PricelakeError {
  return error instanceof PricelakeError && (error.facts.cut === true || error.facts.rule === 'exportRowsPerMonth');
}

/** If the copy was refused before any data landed, removes the run, so that the next run starts from the beginning. */
async function dropRefused(landing: Landing, error: unknown): Promise<never> {
  const isRefused = error instanceof PricelakeError && ['budget', 'quota', 'snapshot_incomplete'].includes(error.code);
  const { exports, pages } = landing.journal.state;
  if (isRefused && exports.begun === 0 && pages.poll.rows === 0n) await dropRun(landing);
  throw error;
}
