/** A list, newest first, that grows without being copied. */
export interface Chain<Value> {
  value: Value;
  before: Chain<Value> | undefined;
}

/** Its values, the oldest first. */
export function listChain<Value>(chain: Chain<Value> | undefined): Value[] {
  const values: Value[] = [];
  for (let one = chain; one !== undefined; one = one.before) values.push(one.value);
  return values.reverse();
}
