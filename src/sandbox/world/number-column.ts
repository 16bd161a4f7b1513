type TypedArray = Float64Array | Uint32Array | BigInt64Array | Int8Array;

/** A growable typed array, which needs a few bytes per value. An array of objects would need about a hundred. */
export class NumberColumn<T extends TypedArray> {
  #values: T;
  length = 0;

  constructor(values: T) {
    this.#values = values;
  }

  /** The underlying array. Only its first `length` values are valid. */
  get values(): T {
    return this.#values;
  }

  push(value: T[number]): void {
    this.set(this.length, value);
  }

  set(index: number, value: T[number]): void {
    if (index >= this.#values.length) this.#grow(index + 1);
    this.#values[index] = value as never;
    if (index >= this.length) this.length = index + 1;
  }

  #grow(needed: number): void {
    const Kind = this.#values.constructor as new (length: number) => T;
    const grown = new Kind(Math.max(needed, this.#values.length * 2, 1024));
    grown.set(this.#values as never);
    this.#values = grown;
  }
}

/**
 * Returns the index of the first of `length` ascending values that is above `value`, or `length` if all are at most
 * `value`.
 */
export function findFirstAbove<V extends number | bigint>(values: ArrayLike<V>, length: number, value: V): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] as V) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
