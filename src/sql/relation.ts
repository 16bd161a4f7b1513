/** A named view or table that statements can read. It is created once, and its name is never used again. */
export class Relation {
  readonly name: string;
  /** Resolves when the rows can be read. */
  readonly made: Promise<void>;

  constructor(name: string, made: Promise<void>) {
    this.name = name;
    this.made = made;
  }
}
