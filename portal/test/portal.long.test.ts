// The portal in a real browser with the real server.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { openBrowser, openPerson, signIn, skipWithoutBrowser, until } from './browser.ts'
import { ban, Demo } from './demo.ts'
import { asUser } from './sample-data.ts'
import { fillDns } from './sample-dns.ts'

describe('the portal', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo()
  let browser: Browser
  before(async () => {
    await demo.start()
    browser = await openBrowser()
    await fillDns(await asUser(demo.url, 'demo@demo.example'))
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  const person = (email?: string, options?: BrowserContextOptions) =>
    openPerson(browser, demo.url, email, options)

  it('keeps the refresh token from scripts, and the access token out of storage', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    const seen = await page.evaluate(() => ({
      cookie: document.cookie,
      storage: JSON.stringify({ ...localStorage, ...sessionStorage }),
    }))
    assert.equal(seen.cookie, 'pharos-signed-in=yes')
    assert.doesNotMatch(seen.storage, /phr_|eyJ/)
    const secret = (await context.cookies()).find(({ name }) => name === 'pharos-refresh')
    assert.ok(secret?.httpOnly && secret.sameSite === 'Strict')
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('explains a wrong password, and continues to the requested page after sign-in', async () => {
    const { context, page } = await person()
    await page.goto(`${demo.url}/events?flag=%5B%22IPV6%22%5D`)
    await page.getByLabel('E-mail').fill('demo@demo.example')
    await page.getByRole('textbox', { name: 'Password' }).fill('not this one')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The e-mail address or the password is wrong.').waitFor()
    await page.getByRole('textbox', { name: 'Password' }).fill('pharos-demo-password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Attacks', level: 1 }).waitFor()
    assert.match(page.url(), /flag=/)
    await context.close()
  })

  it('shows the failed checks of a prefix, with the object to create', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.getByRole('link', { name: '198.18.67.0/24', exact: true }).click()
    await page
      .getByRole('region', { name: 'ROA (RPKI)' })
      .getByText(/No ROA covers/)
      .waitFor()
    await page.getByText(/maxLength: 24/).waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('disables and enables an announcement after showing the effect, and shows the routers’ state', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/announcements`)
    await page.getByRole('link', { name: '198.51.100.0/24' }).click()
    await page.getByText('Announced', { exact: true }).first().waitFor()
    await page.getByLabel('Announce 198.51.100.0/24').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Withdraw 198.51.100.0/24 from Amsterdam').waitFor()
    await dialog.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByRole('table').getByText('Withdrawn', { exact: true }).first().waitFor()
    await page.getByLabel('Announce 198.51.100.0/24').click()
    await dialog.getByText('Announce 198.51.100.0/24 in Frankfurt').waitFor()
    await dialog.getByRole('button', { name: 'Announce' }).click()
    await page.getByText('Announced', { exact: true }).first().waitFor()
    await page.getByRole('tab', { name: /^History/ }).click()
    await page.getByText('Disabled', { exact: true }).first().waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('shows an attack that arrives while the list is open, and not to another team', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/events`)
    await page.getByRole('cell').first().waitFor()
    await demo.post('/v3/ingest/events/fastnetmon', ban, 'Token demo-secret')
    const attack = page.getByRole('row').filter({ hasText: '9.5 Gbps' }).filter({ hasText: 'Detected' })
    await attack.waitFor()
    await attack.getByRole('link', { name: '203.0.113.77' }).click()
    await page.getByRole('region', { name: 'Affected' }).getByText('Game servers').waitFor()
    assert.deepEqual(pageErrors, [])
    const other = await person('other@demo.example')
    await other.page.goto(page.url())
    await other.page.getByText('Not found').first().waitFor()
    assert.equal(await other.page.getByText('Game servers').count(), 0)
    await other.context.close()
    await context.close()
  })

  it('invites a person, who follows the link in the e-mail and signs in', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/team`)
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'E-mail addresses' }).fill('noc@customer.example')
    await dialog.getByRole('button', { name: 'Send invitations' }).click()
    await page.getByRole('cell', { name: 'noc@customer.example', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Invite' }).click()
    await dialog.getByRole('combobox', { name: 'E-mail addresses' }).fill('NOC@customer.example')
    await dialog.getByRole('button', { name: 'Send invitations' }).click()
    await page.getByText('NOC@customer.example is already invited.').waitFor()
    await page.getByRole('button', { name: 'Actions for noc@customer.example' }).click()
    await page.getByRole('menuitem', { name: 'Send again' }).click()
    await page.getByText(/The invitation was sent to noc@customer.example only a short time ago/).waitFor()
    const guest = await person()
    await guest.page.goto(await linkOfMail('noc@customer.example'))
    await guest.page.getByText(/invited you \(noc@customer.example\)/).waitFor()
    assert.doesNotMatch(guest.page.url(), /#/, 'the token leaves the address bar')
    await guest.page.getByRole('textbox', { name: 'Password' }).fill('short')
    await guest.page.getByRole('button', { name: 'Create account and join' }).click()
    await guest.page.getByText(/has 5 characters and needs 12 to 128/).waitFor()
    assert.equal(await guest.page.getByRole('alert').count(), 0, 'the error is shown at its field only')
    await guest.page.getByRole('textbox', { name: 'Password' }).fill('eleven wet lighthouses')
    await guest.page.getByRole('button', { name: 'Create account and join' }).click()
    await guest.page.getByText('You have joined Demo Networks.').waitFor()
    await signIn(guest.page, demo.url, 'noc@customer.example', 'eleven wet lighthouses')
    assert.deepEqual(
      pageErrors.filter((error) => !/status of 429/.test(error)),
      [],
    )
    await guest.context.close()
    await context.close()
  })

  /** The loop that sends mails writes the file a moment after the invitation is stored. */
  async function linkOfMail(address: string): Promise<string> {
    let link: string | undefined
    await until(`a link in a mail to ${address}`, async () => {
      const mail = demo.mailsTo(address).at(-1)?.replaceAll('=\r\n', '').replaceAll('=3D', '=')
      link = /http:\/\/127\.0\.0\.1:\d+\/[a-z-]+#[\w.-]+/.exec(mail ?? '')?.[0]
      assert.ok(link)
    })
    return link!
  }

  it('creates an API token that works, and revokes it', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/team/tokens/new`)
    await page.getByLabel('Name').fill('deploy')
    await page.getByRole('checkbox', { name: 'Read announcements and ASNs' }).check()
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByRole('button', { name: 'Show token' }).click()
    const token = (await page.getByText(/^phs_/).innerText()).trim()
    const ask = () =>
      fetch(`${demo.url}/v3/ipam/announcements`, { headers: { authorization: `Token ${token}` } })
    assert.equal((await ask()).status, 200)
    await page.getByRole('link', { name: 'All API tokens' }).click()
    const row = page.getByRole('row').filter({ hasText: 'deploy' })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    await until('the revoked token to be refused', async () => assert.equal((await ask()).status, 401))
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('changes the password in one tab while other tabs continue, and invalidates a copied cookie', async () => {
    const { context, page, pageErrors } = await person()
    const password = 'eleven wet lighthouses'
    const next = 'twelve dry lighthouses'
    await signIn(page, demo.url, 'noc@customer.example', password)
    await page.goto(`${demo.url}/profile`)
    const other = await context.newPage()
    await other.goto(`${demo.url}/announcements`)
    await other.getByRole('heading', { name: 'Announcements' }).waitFor()
    const copied = (await context.cookies()).find(({ name }) => name === 'pharos-refresh')!
    await changePassword(page, password, next)
    // Without a reload: with the tokens from the first tab.
    await other.getByRole('button', { name: /^Account of/ }).click()
    await other.getByRole('menuitem', { name: 'Profile' }).click()
    await changePassword(other, next, password)
    await Promise.all([page.reload(), other.reload()])
    for (const tab of [page, other]) await tab.getByRole('button', { name: 'Change password' }).waitFor()
    const refused = await fetch(`${demo.url}/v3/session/refresh`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refresh: copied.value }),
    })
    assert.equal(refused.status, 401)
    assert.deepEqual(
      pageErrors.filter((one) => !/status of 401/.test(one)),
      [],
    )
    await context.close()
  })

  async function changePassword(page: Page, current: string, next: string): Promise<void> {
    await page.getByRole('button', { name: 'Change password' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Current password' }).fill(current)
    await dialog.getByRole('textbox', { name: 'New password' }).fill(next)
    await dialog.getByRole('button', { name: 'Change password' }).click()
    await dialog.waitFor({ state: 'hidden' })
  }

  it('sets up a second factor, and asks for it at the next sign-in', async () => {
    const { context, page, pageErrors } = await person()
    await signIn(page, demo.url, 'noc@customer.example', 'eleven wet lighthouses')
    await page.goto(`${demo.url}/profile`)
    await page.getByRole('button', { name: 'Set up' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Current password' }).fill('eleven wet lighthouses')
    await dialog.getByRole('button', { name: 'Continue' }).click()
    const secret = await dialog.locator('code').first().innerText()
    const { TOTP } = await import('otpauth')
    const code = () => new TOTP({ secret }).generate()
    await dialog.getByLabel('Six-digit code').fill(code())
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    const recovery = (await dialog.locator('pre').innerText()).trim().split('\n')
    assert.equal(recovery.length, 10)
    await dialog.getByRole('button', { name: 'I have saved these codes' }).click()
    await page.getByText('10 recovery codes left').waitFor()
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('E-mail').fill('noc@customer.example')
    await page.getByRole('textbox', { name: 'Password' }).fill('eleven wet lighthouses')
    await page.getByRole('button', { name: 'Sign in' }).click()
    // The current code was used for setting up the factor: a recovery code is used instead.
    await page.getByLabel('Authentication code').fill(recovery[0]!)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    assert.deepEqual(
      pageErrors.filter((one) => !/status of 401/.test(one)),
      [],
    )
    await context.close()
  })

  it('refreshes in several tabs at once, and signs out none of them', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    const tabs = [page, ...(await Promise.all(Array.from({ length: 4 }, () => context.newPage())))]
    for (let round = 0; round < 5; round++) {
      await Promise.all(tabs.map((tab) => tab.goto(`${demo.url}/announcements`)))
      await Promise.all(tabs.map((tab) => tab.getByRole('link', { name: '203.0.113.0/24' }).waitFor()))
    }
    assert.deepEqual(pageErrors, [])
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await Promise.all(tabs.map((tab) => tab.waitForURL(/sign-in/)))
    await context.close()
  })

  it('opens pages by keyboard shortcuts', async () => {
    const { context, page } = await person('demo@demo.example')
    await page.keyboard.press('g')
    await page.keyboard.press('e')
    await page.getByRole('heading', { name: 'Attacks', level: 1 }).waitFor()
    const search = page.getByLabel('Address or prefix')
    await search.waitFor()
    await page.keyboard.press('/')
    await page.locator('[data-search]:focus').waitFor()
    await page.keyboard.type('203.0.113.66')
    await page.waitForURL(/affected_network=203/)
    await page
      .getByRole('cell', { name: /^2001:db8/ })
      .first()
      .waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: '203.0.113.66', exact: true }).first().waitFor()
    await context.close()
  })
})
