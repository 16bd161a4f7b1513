/** A linked list of values, newest first. A value can be added without copying the list. */
export interface Chain<Value> {
  value: Value;
  before: Chain<Value> | undefined;
}

/** Lists the values of a chain, oldest first. */
export function listChain<Value>(chain: Chain<Value> | undefined): Value[] {
  const values: Value[] = [];
  for (let one = chain; one !== undefined; one = one.before) values.push(one.value);
  return values.reverse();
}
