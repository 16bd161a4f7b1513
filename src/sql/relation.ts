/** Rows that statements of a run can read. A relation is made once: no other rows are ever shown under its name. */
export class Relation {
  /** Unique in its database. */
  readonly name: string;
  /** Resolves when it can be read. */
  readonly made: Promise<void>;

  constructor(name: string, made: Promise<void>) {
    this.name = name;
    this.made = made;
  }
}
