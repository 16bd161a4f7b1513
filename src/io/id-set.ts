/** A set of ids in a sorted array. A JavaScript `Set` needs ten times the memory and holds at most 16 million ids. */
export class IdSet implements Iterable<bigint> {
  readonly #ids: BigInt64Array;
  readonly #isGone: Uint8Array;
  #size: number;

  /** @param ids in ascending order, without duplicates */
  constructor(ids: BigInt64Array) {
    this.#ids = ids;
    this.#isGone = new Uint8Array(ids.length);
    this.#size = ids.length;
  }

  get size(): number {
    return this.#size;
  }

  has(id: bigint): boolean {
    return this.#find(id) !== undefined;
  }

  /** Removes an id. @returns false if the set doesn't contain the id */
  delete(id: bigint): boolean {
    const place = this.#find(id);
    if (place === undefined) return false;
    this.#isGone[place] = 1;
    this.#size--;
    return true;
  }

  *[Symbol.iterator](): Generator<bigint> {
    for (const [place, id] of this.#ids.entries()) if (this.#isGone[place] === 0) yield id;
  }

  #find(id: bigint): number | undefined {
    let [low, high] = [0, this.#ids.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ids[middle] as bigint) < id) low = middle + 1;
      else high = middle;
    }
    return this.#ids[low] === id && this.#isGone[low] === 0 ? low : undefined;
  }
}
