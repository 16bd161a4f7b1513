import { MAX_JSON_DEPTH } from '../io/limits.js';

/** True for JSON text that is nested too deep for what goes through it by recursion: parsers, zod, JSON.stringify. */
export function isTooDeep(json: string): boolean {
  // So short a text can't be.
  if (json.length <= 2 * MAX_JSON_DEPTH) return false;
  let depth = 0;
  let isText = false;
  for (let i = 0; i < json.length; i++) {
    const char = json.charCodeAt(i);
    if (isText) {
      if (char === 0x5c) i++;
      else if (char === 0x22) isText = false;
    } else if (char === 0x22) isText = true;
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > MAX_JSON_DEPTH) return true;
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
  return false;
}
