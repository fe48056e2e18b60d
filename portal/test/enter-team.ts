// Enters the team of a customer as staff: opens the dialog and gives a reason.
import type { Locator, Page } from 'playwright-core'

type Entering = { readonly change?: boolean; readonly within?: Locator }

/** `within`: where the button is, if the page has several. */
export async function enterTeam(page: Page, { change = false, within }: Entering = {}): Promise<void> {
  await (within ?? page.locator('main')).getByRole('button', { name: 'Open team' }).first().click()
  const dialog = page.getByRole('dialog', { name: /^Open the team / })
  await dialog.getByLabel('Reason').fill('The customer asked for help.')
  if (change) await dialog.getByRole('switch', { name: 'Allow changes' }).click()
  await dialog.getByRole('button', { name: 'Open team' }).click()
  await dialog.waitFor({ state: 'detached' })
}
