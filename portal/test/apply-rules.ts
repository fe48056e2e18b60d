// Confirms the dialog that applies a list of shield rules.
import type { Locator } from 'playwright-core'

/** Without flows of an hour the provider's limit may need to be overridden. Resolves when the dialog is closed. */
export async function applyRules(dialog: Locator): Promise<void> {
  const force = dialog.getByLabel(/^Apply although/)
  const apply = dialog.getByRole('button', { name: 'Apply rules' })
  await apply.click()
  const closed = dialog.waitFor({ state: 'detached' })
  await Promise.race([closed, force.waitFor().catch(() => closed)])
  if (await force.isVisible()) {
    await force.check()
    await apply.click()
  }
  await closed
}
