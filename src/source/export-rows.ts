import { PricelakeError } from '../io/errors.js';

/** X-Export-Rows (section 4, /export). Throws `contract` without it. */
export function readExportRows(headers: Record<string, string>): bigint {
  const text = headers['x-export-rows'] ?? '';
  if (!/^\d{1,18}$/.test(text)) {
    throw new PricelakeError(
      'contract',
      `/export: header X-Export-Rows is "${text}", not a whole number: without it, a complete export can't be told from a cut one`,
      { hint: 'Check source.baseUrl, and that no proxy removes headers.' },
    );
  }
  return BigInt(text);
}
