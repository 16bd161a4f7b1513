/** What a schema and its fields mean, in the words of the API document; undefined where it shows none. */
export interface Meaning {
  about: string;
  fields: Record<string, string>;
}
