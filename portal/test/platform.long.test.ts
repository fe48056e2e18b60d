// The platform in the portal: a customer with a prefix, a port and a zone is created without a command line, its elements are edited and
// deleted, and what a file manages is read-only.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { assertFits, axeViolations } from './accessibility.ts'
import { openBrowser, openPerson, settled, shoot, skipWithoutBrowser, until } from './browser.ts'
import { Demo } from './demo.ts'

async function look(page: Page, name: string): Promise<void> {
  await settled(page)
  assert.deepEqual(await axeViolations(page), [])
  for (const [width, height] of [
    [390, 844],
    [1440, 900],
  ] as const) {
    await page.setViewportSize({ width, height })
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      await shoot(page, `${name}-${width}-${theme}`)
    }
    await assertFits(page, name, width)
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

const pick = async (page: Page, field: string, option: string): Promise<void> => {
  await page.getByLabel(field).first().click()
  await page.getByRole('option', { name: option, exact: true }).click()
}

describe('the platform in the portal', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo()
  let browser: Browser
  before(async () => {
    await demo.start()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  it('creates a customer with a prefix, a port and a zone, and invites its first admin', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    await page.goto(`${demo.url}/staff/customers`)
    await page.getByRole('link', { name: 'Create customer' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Bäckerei Example')
    await page.getByLabel('Short name').focus()
    await until('the short name', async () =>
      assert.equal(await page.getByLabel('Short name').inputValue(), 'backerei-example'),
    )
    await pick(page, 'Modules', 'DNS')
    await page.keyboard.press('Escape')
    await page.getByLabel('E-mail').fill('ann@bakery.example')
    await page.getByLabel('Prefixes').fill('198.51.100.77/24')
    await page.keyboard.press('Enter')
    await page.getByLabel('Service', { exact: false }).first().fill('Transit')
    await page.getByLabel('Circuit').fill('BAK-1')
    await page.getByLabel('Device').first().click()
    await page.getByRole('option').first().click()
    await page.getByLabel('Interface').fill('et-9/0/9')
    await page.getByRole('button', { name: 'Review plan' }).click()
    await page.getByText(/host bits/i).waitFor()
    await look(page, 'platform-new-customer')
    await page.getByLabel('Prefixes').first().focus()
    await page.keyboard.press('Backspace')
    await page.keyboard.type('198.51.100.0/24')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Review plan' }).click()
    await page.getByRole('region', { name: /Create prefix backerei-example/ }).waitFor()
    await look(page, 'platform-customer-plan')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('heading', { name: 'Bäckerei Example was created' }).waitFor()
    await page.getByText('An invitation was sent to ann@bakery.example.').waitFor()
    await look(page, 'platform-customer-created')
    await page.getByRole('button', { name: /Open as/ }).click()
    const reason = page.getByRole('dialog')
    await reason.getByLabel('Reason').fill('Create the first zone of the customer')
    await reason.getByLabel(/change/i).check()
    await reason.getByRole('button', { name: /Open/ }).click()
    await page.getByRole('heading', { name: 'Create zone' }).waitFor()
    await page.getByLabel('Name').first().fill('bakery.example')
    await page.getByRole('button', { name: 'Create zone' }).click()
    await page.getByRole('heading', { name: 'bakery.example' }).waitFor()
    await until('the mail', async () => assert.equal(demo.mailsTo('ann@bakery.example').length, 1))
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('edits and deletes an element with its plan', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    await page.goto(`${demo.url}/staff/platform`)
    await look(page, 'platform-kinds')
    await page.getByRole('link', { name: 'Locations' }).click()
    await page.getByRole('button', { name: 'Create location' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Key').fill('tst')
    await dialog.getByLabel('Name').fill('Test place')
    await pick(page, 'Country', 'Netherlands')
    await pick(page, 'Timezone', 'UTC')
    await look(page, 'platform-form')
    await dialog.getByRole('button', { name: 'Review plan' }).click()
    await dialog.getByRole('region', { name: 'Create location tst' }).waitFor()
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await page.locator('[data-list]').getByText('tst', { exact: true }).first().click()
    const panel = page.locator('[data-panel]')
    await panel.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Name').fill('Another place')
    await dialog.getByRole('button', { name: 'Review plan' }).click()
    await dialog.getByText('Another place').waitFor()
    await look(page, 'platform-plan')
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await panel.getByText('Another place').waitFor()
    await panel.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('region', { name: 'Delete location tst' }).waitFor()
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await until('the deletion', async () =>
      assert.equal(await page.locator('[data-list]').getByText('tst', { exact: true }).count(), 0),
    )
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('shows what a file manages, and changes it there', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    await page.goto(`${demo.url}/staff/platform/regions`)
    await page.locator('[data-list]').getByText('ams', { exact: true }).first().click()
    const panel = page.locator('[data-panel]')
    await panel.getByText(/manages this element. Change it there/).waitFor()
    assert.equal(await panel.getByRole('button', { name: 'Edit' }).count(), 0)
    await look(page, 'platform-read-only')
    assert.deepEqual(pageErrors, [])
    await context.close()
  })
})
