// Shield rules in a browser: a list is edited as a draft, reviewed with its effect, applied with a timer and confirmed; without a
// confirmation the earlier list comes back.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { assertFits, axeViolations } from './accessibility.ts'
import { openBrowser, openPerson, settled, skipWithoutBrowser } from './browser.ts'
import { applyRules } from './apply-rules.ts'
import { Demo } from './demo.ts'

describe('shield rules in the portal', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo({ traffic: true })
  let browser: Browser
  before(async () => {
    await demo.start()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  const admin = () => openPerson(browser, demo.url, 'demo@demo.example', { timezoneId: 'UTC' })
  const addressOf = (prefix: string) => `${demo.url}/shield/rules?prefix=${encodeURIComponent(prefix)}`
  const rules = (page: Page) => page.getByRole('region', { name: 'Rules', exact: true })
  const timer = (page: Page) => page.getByRole('region', { name: /are not confirmed/ })

  async function addRule(page: Page, protocol: string, ports: string): Promise<void> {
    await page
      .getByRole('button', { name: /^Add (the first )?rule$/ })
      .first()
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Protocol').first().fill(protocol)
    await page.keyboard.press('Tab')
    await dialog.getByLabel('Source ports').first().fill(ports)
    await dialog.getByRole('button', { name: 'Save rule' }).click()
    await dialog.waitFor({ state: 'detached' })
  }

  it('are ordered, reviewed with their effect, applied with a timer on every page, and confirmed', async () => {
    const { context, page, pageErrors } = await admin()
    await page.goto(`${demo.url}/shield`)
    await settled(page)
    await page.getByRole('button', { name: 'Add list' }).click()
    const adding = page.getByRole('dialog', { name: 'Add list' })
    await adding.getByRole('combobox', { name: 'Prefix of the new list' }).fill('203.0.113.0/24')
    await adding.getByRole('button', { name: 'Add list' }).click()
    await page.getByRole('heading', { level: 1, name: '203.0.113.0/24' }).waitFor()
    await addRule(page, 'UDP', '53,123')
    await addRule(page, 'UDP', '53')
    await rules(page).getByText('Never matches: rule 1 before it matches all of its packets.').waitFor()

    // The second one is moved before the first one, so that both can match.
    await rules(page)
      .getByRole('button', { name: /^Move rule 2/ })
      .focus()
    await page.keyboard.press('ArrowUp')
    await rules(page)
      .getByRole('button', { name: /^Move rule 1: Drop: UDP, source port 53\b/ })
      .waitFor()
    await page.getByText('2 changes are not applied').waitFor()

    await page.getByRole('button', { name: 'Review changes' }).click()
    const dialog = page.getByRole('dialog', { name: 'Apply rules to 203.0.113.0/24' })
    await dialog.getByText('Drop: UDP, source ports 53, 123, at place 2').waitFor()
    await dialog.getByRole('region', { name: 'Effect in the last hour' }).waitFor()
    await applyRules(dialog)

    await timer(page)
      .getByText(/restored in [0-5]:\d\d/)
      .waitFor()
    await page.goto(`${demo.url}/announcements`)
    await timer(page)
      .getByText(/restored in [0-5]:\d\d/)
      .waitFor()
    await page.reload()
    await timer(page).getByRole('button', { name: 'Keep new rules' }).click()
    await timer(page).waitFor({ state: 'detached' })
    await page.goto(addressOf('203.0.113.0/24'))
    await rules(page).getByText('UDP, source ports 53, 123').waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('come back as they were if they are reverted, in any session', async () => {
    const { context, page } = await admin()
    await page.goto(addressOf('2001:db8:a::/48'))
    await settled(page)
    await addRule(page, 'UDP', '11211')
    await page.getByRole('button', { name: 'Review changes' }).click()
    const dialog = page.getByRole('dialog', { name: /^Apply rules/ })
    await applyRules(dialog)
    await timer(page).waitFor()
    const other = await admin()
    await other.page.goto(`${demo.url}/announcements`)
    await timer(other.page).getByRole('button', { name: 'Keep new rules' }).waitFor()
    // A form that is open meanwhile is saved to the rule that it was opened for.
    await page.getByRole('button', { name: 'Actions of rule 1' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    const form = page.getByRole('dialog', { name: 'Edit rule' })
    await form.getByLabel('Source ports').first().fill('11212')
    await timer(other.page).getByRole('button', { name: 'Revert now' }).click()
    await timer(other.page).waitFor({ state: 'detached' })
    await timer(page).waitFor({ state: 'detached' })
    const warning = page.getByRole('alert').filter({ hasText: 'Someone has changed this meanwhile' })
    await warning.waitFor()
    await form.getByRole('button', { name: 'Save rule' }).click()
    await page.getByText('1 change is not applied').waitFor()
    await rules(page).getByText('Changed').waitFor()
    await warning.getByRole('button', { name: 'Discard and load the new version' }).click()
    await page.getByRole('heading', { name: 'No rules for this prefix' }).waitFor()
    await other.context.close()
    await context.close()
  })

  it('name what is wrong with a rule at its field, and keep what was typed', async () => {
    const { context, page } = await admin()
    await page.goto(addressOf('198.51.100.0/24'))
    await settled(page)
    await page.getByRole('button', { name: 'Add the first rule' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Limit', { exact: true }).click()
    await dialog.getByLabel('Source ports').first().fill('http')
    await dialog.getByRole('button', { name: 'Save rule' }).click()
    await dialog.getByText('Set a limit of bits or of packets').waitFor()
    await dialog.getByText(/numbers and ranges, separated by commas/).waitFor()
    assert.equal(await dialog.getByLabel('Source ports').first().inputValue(), 'http')
    await context.close()
  })

  it('give up a host that is not attacked only if that is confirmed', async () => {
    const { context, page, pageErrors } = await admin()
    await page.goto(`${demo.url}/shield`)
    await settled(page)
    const list = page.getByRole('region', { name: 'Black holes' })
    await list.getByRole('button', { name: 'Black-hole a host' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Address').fill('192.88.99.1')
    await dialog.getByRole('button', { name: 'Check host' }).click()
    await dialog.getByText(/is in no announced prefix of the team/).waitFor()
    await dialog.getByLabel('Address').fill('203.0.113.200')
    await dialog.getByRole('button', { name: 'Check host' }).click()
    await dialog.getByText('203.0.113.200 becomes unreachable for everybody').waitFor()
    const action = dialog.getByRole('button', { name: 'Black-hole host' })
    assert.equal(await action.isDisabled(), true)
    await dialog.getByLabel(/^No ongoing attack targets exactly this address/).check()
    assert.deepEqual(await axeViolations(page), [])
    await action.click()
    await dialog.waitFor({ state: 'detached' })
    await list.getByText('Active', { exact: true }).waitFor()
    await list.getByText(/^Ends in (59:\d\d|1:00:00)$/).waitFor()
    await list.getByRole('button', { name: 'End now' }).click()
    await list.getByText('Ended', { exact: true }).first().waitFor()
    // The browser reports the refused address too.
    assert.deepEqual(
      pageErrors.filter((text) => !text.includes('422')),
      [],
    )
    await context.close()
  })

  it('are accessible and fit on a phone', async () => {
    const { context, page } = await admin()
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      for (const path of ['/shield', '/shield/rules?prefix=203.0.113.0%2F24']) {
        await page.goto(demo.url + path)
        await settled(page)
        assert.deepEqual(await axeViolations(page), [], path)
        await assertFits(page, path, width)
      }
    }
    await context.close()
  })
})
