/** Named rows that a run's statements can read. A relation is created once. Its name never stands for other rows. */
export class Relation {
  readonly name: string;
  /** Resolves when the rows can be read. */
  readonly made: Promise<void>;

  constructor(name: string, made: Promise<void>) {
    this.name = name;
    this.made = made;
  }
}
