/** Groups in the order of their first members, as `Map.groupBy` of later versions of Node.js makes them. */
export function groupBy<K, T>(list: readonly T[], readKey: (member: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const member of list) {
    const key = readKey(member);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [member]);
    else group.push(member);
  }
  return groups;
}
