import type { Page } from 'playwright-core';

/** Follows the first link of a name. */
export const go = (page: Page, name: string | RegExp) =>
  page
    .getByRole('link', typeof name === 'string' ? { name, exact: true } : { name })
    .first()
    .click();

/** Searches products from any page. */
export async function search(page: Page, words: string): Promise<void> {
  await page.getByRole('searchbox').fill(words);
  await page.keyboard.press('Enter');
}

/** Finds a table's row by the table's analysis and the row's heading. */
export const rowOf = (page: Page, analysis: string, name: string | RegExp) =>
  page.locator(`table[data-analysis=${analysis}] tbody tr`).filter({ has: page.locator('th', { hasText: name }) });

/** The text of a row's cell by its head. */
export const cell = async (row: ReturnType<typeof rowOf>, label: string) =>
  ((await row.locator(`td[data-label="${label}"]`).first().textContent()) ?? '').replaceAll(/\s+/gu, ' ').trim();
