// The platform in the portal: a customer with a prefix, a port and a zone is created without a command line, its elements are edited and
// deleted, and what a file manages is read-only.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { assertFits, axeViolations } from './accessibility.ts'
import { openBrowser, openPerson, settled, shoot, skipWithoutBrowser, until } from './browser.ts'
import { Demo } from './demo.ts'
import { enterTeam } from './enter-team.ts'

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

/** The input of a field of the form. */
const input = (within: Page | Locator, field: string) =>
  within.locator(`[data-field=${field}] input:not([type=hidden])`).first()

async function pick(page: Page, field: string, option?: string): Promise<void> {
  await input(page, field).click()
  const options = page.getByRole('option', option === undefined ? {} : { name: option, exact: true })
  await options.first().click()
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
    await input(page, 'name').fill('Bäckerei Example')
    await input(page, 'slug').focus()
    await until('the short name', async () =>
      assert.equal(await input(page, 'slug').inputValue(), 'backerei-example'),
    )
    await pick(page, 'modules', 'DNS')
    await page.keyboard.press('Escape')
    await input(page, 'email').fill('ann@bakery.example')
    await input(page, 'prefixes').fill('198.18.9.77/24')
    await page.keyboard.press('Enter')
    await input(page, 'service').fill('Transit')
    await input(page, 'circuit_id').fill('BAK-1')
    await pick(page, 'device')
    await input(page, 'interface').fill('et-9/0/9')
    await page.getByRole('button', { name: 'Review plan' }).click()
    await page
      .locator('[data-field=prefixes]')
      .getByText(/host bits/i)
      .waitFor()
    await look(page, 'platform-new-customer')
    await input(page, 'prefixes').focus()
    await page.keyboard.press('Backspace')
    await page.keyboard.type('198.18.9.0/24')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Review plan' }).click()
    await page.getByRole('region', { name: /Create prefix backerei-example/ }).waitFor()
    await look(page, 'platform-customer-plan')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('heading', { name: 'Bäckerei Example was created' }).waitFor()
    await page.getByText('An invitation was sent to ann@bakery.example.').waitFor()
    await look(page, 'platform-customer-created')
    await enterTeam(page, { change: true })
    await page.getByRole('heading', { name: 'Create zone' }).waitFor()
    await page.getByLabel('Name').first().fill('bakery.example')
    await page.getByRole('button', { name: 'Create zone' }).click()
    await page.getByRole('heading', { name: 'bakery.example' }).waitFor()
    await until('the mail', async () => assert.equal(demo.mailsTo('ann@bakery.example').length, 1))
    // The plan with the mistake.
    assert.deepEqual(
      pageErrors.filter((one) => !/status of 422/.test(one)),
      [],
    )
    await context.close()
  })

  it('edits and deletes an element with its plan', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    await page.goto(`${demo.url}/staff/platform`)
    await look(page, 'platform-kinds')
    await page.getByRole('link', { name: 'Locations' }).click()
    await page.getByRole('button', { name: 'Create location' }).click()
    const dialog = page.getByRole('dialog')
    await input(dialog, 'key').fill('tst')
    await input(dialog, 'name').fill('Test place')
    await input(dialog, 'country').fill('Netherlands')
    await page.getByRole('option', { name: 'Netherlands', exact: true }).click()
    await input(dialog, 'timezone').fill('UTC')
    await page.getByRole('option', { name: 'UTC', exact: true }).click()
    await look(page, 'platform-form')
    await dialog.getByRole('button', { name: 'Review plan' }).click()
    await dialog.getByRole('region', { name: 'Create location tst' }).waitFor()
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await page.locator('[data-list]').getByText('tst', { exact: true }).first().click()
    const panel = page.locator('[data-panel]')
    await panel.getByRole('button', { name: 'Edit' }).click()
    await input(dialog, 'name').fill('Another place')
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
