// Forms in a real browser with the real server: secrets that are shown once, a failed test, and signing out. Tests that need only the
// portal are in forms.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { listTokensRoute } from '@pharos/contract/team/token'
import type { Browser } from 'playwright-core'
import { axeViolations } from './accessibility.ts'
import { openBrowser, openPerson, settled, shoot, skipWithoutBrowser } from './browser.ts'
import { Demo } from './demo.ts'
import { asUser } from './sample-data.ts'

describe('forms of the portal', { skip: skipWithoutBrowser() }, () => {
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

  const person = (email?: string) => openPerson(browser, demo.url, email)

  it('create an API token from a preset, with a request that works', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/team/tokens`)
    await page.getByRole('link', { name: 'Create token' }).click()
    await page.getByLabel('Name').fill('Grafana')
    await page.getByRole('button', { name: 'Monitoring' }).click()
    await settled(page)
    await shoot(page, 'forms-token')
    assert.deepEqual(await axeViolations(page), [])
    assert.ok(await page.getByRole('checkbox', { name: 'Read security events' }).isChecked())
    assert.ok(!(await page.getByRole('checkbox', { name: 'Change webhooks' }).isChecked()))
    await page.getByRole('button', { name: 'Create token' }).click()
    const command = await page.locator('pre').innerText()
    await shoot(page, 'forms-token-created')
    const [, url] = /^curl -H 'Authorization: Token •+' '(\S+)'$/.exec(command.trim()) ?? []
    assert.ok(url !== undefined && url.startsWith(demo.url), command)
    await page.getByRole('button', { name: 'Show token' }).click()
    const token = await page.locator('[data-secret]').innerText()
    assert.match(token, /^phs_/)
    assert.equal((await fetch(url, { headers: { authorization: `Token ${token}` } })).status, 200)
    assert.doesNotMatch(await page.getByRole('status').first().innerText(), /phs_/)
    await page.getByRole('link', { name: 'All API tokens' }).click()
    const row = page.getByRole('row').filter({ hasText: 'Grafana' })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page
      .getByRole('dialog', { name: 'Revoke Grafana?' })
      .getByRole('button', { name: 'Revoke' })
      .click()
    await page.getByText('Grafana was revoked.').waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('create no token without an end from a date that is missing', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    const call = await asUser(demo.url, 'demo@demo.example')
    const tokens = async () => (await call(listTokensRoute, { query: { name: 'Backup' } })).body.results
    const choose = async (name: string) => {
      await page.locator('[data-field=expires] input').first().click()
      await page.getByRole('option', { name, exact: true }).click()
    }
    await page.goto(`${demo.url}/team/tokens/new`)
    await page.getByLabel('Name').fill('Backup')
    await page.getByRole('button', { name: 'Monitoring' }).click()
    await choose('Never expires')
    await choose('Another date')
    const day = page.getByLabel('Day, in UTC')
    const create = page.getByRole('button', { name: 'Create token' })
    for (const wrong of ['', '12026-01-01']) {
      await day.fill(wrong)
      await create.click()
      await page.getByText('Expires must be a date.', { exact: true }).waitFor()
      await page.locator('[data-field=expires] input[type=date]:focus').waitFor()
    }
    await settled(page)
    await shoot(page, 'forms-token-expiry')
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(await tokens(), [])
    await day.fill('2028-02-01')
    await create.click()
    await page.locator('pre').waitFor()
    assert.deepEqual(
      (await tokens()).map((token) => token.expires),
      ['2028-02-01T00:00:00.000Z'],
    )
    await page.getByRole('link', { name: 'All API tokens' }).click()
    await page.getByRole('row').filter({ hasText: 'Backup' }).getByRole('button', { name: 'Edit' }).click()
    // A token may only end earlier than it does.
    const dialog = page.getByRole('dialog')
    await dialog.locator('[data-field=expires] input').first().click()
    await page.getByRole('option', { name: 'Another date', exact: true }).waitFor()
    assert.equal(await page.getByRole('option', { name: 'Never expires', exact: true }).count(), 0)
    await page.getByRole('option', { name: 'Another date', exact: true }).click()
    await dialog.getByLabel('Day, in UTC').fill('2027-06-01')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual(
      (await tokens()).map((token) => token.expires),
      ['2027-06-01T00:00:00.000Z'],
    )
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('show a failed webhook test in red', async () => {
    const { context, page } = await person('demo@demo.example')
    await page.goto(`${demo.url}/team/webhooks`)
    await page.getByRole('button', { name: 'Add webhook' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('URL').fill('https://hooks.demo-networks.example/x')
    await shoot(page, 'forms-webhook')
    await dialog.getByRole('button', { name: 'Add webhook' }).click()
    await dialog.getByRole('button', { name: 'Show secret' }).click()
    await dialog.getByText(/^whsec_/).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('link', { name: 'https://hooks.demo-networks.example/x' }).click()
    await page.getByRole('button', { name: 'Send test' }).click()
    const message = page.getByRole('alert').filter({ hasText: /^Test failed: / })
    await message.waitFor()
    await shoot(page, 'forms-webhook-failed')
    assert.equal(await page.getByText(/^Test delivered/).count(), 0)
    await context.close()
  })

  it('say that one has signed out, and start the next person at the overview', async () => {
    const { context, page } = await person('demo@demo.example')
    await page.goto(`${demo.url}/team/settings`)
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByText('You have signed out.').waitFor()
    await page.waitForURL((url) => url.pathname === '/sign-in' && url.search === '')
    await shoot(page, 'forms-signed-out')
    assert.equal(await page.getByText(/session has expired/).count(), 0)
    await page.getByLabel('E-mail').fill('other@demo.example')
    await page.getByRole('textbox', { name: 'Password' }).fill('pharos-demo-password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await context.close()
  })
})
