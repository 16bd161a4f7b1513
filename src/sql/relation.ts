import type { Piece } from './file-read.js';

/** The SQL of a view, as any other process can run it. */
interface ViewSql {
  readonly pieces: readonly Piece[];
  readonly reads: ReadonlySet<Relation>;
}

/** Rows that statements of a run can read. A relation is made once: no other rows are ever shown under its name. */
export class Relation {
  /** Unique in its database. */
  readonly name: string;
  /** Resolves when it can be read. */
  readonly made: Promise<void>;
  /** Undefined for rows that are kept. */
  readonly select: ViewSql | undefined;

  constructor(name: string, made: Promise<void>, select?: ViewSql) {
    this.name = name;
    this.made = made;
    this.select = select;
  }
}
