/** Rows that a run's statements can read. A relation is made once, and its name never stands for other rows. */
export class Relation {
  readonly name: string;
  /** Resolves when it can be read. */
  readonly made: Promise<void>;

  constructor(name: string, made: Promise<void>) {
    this.name = name;
    this.made = made;
  }
}
