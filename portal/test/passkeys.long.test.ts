// Passkeys in a real browser, whose authenticator is virtual: Chromium makes and signs as with a real one. Browsers accept passkeys for a host
// name only, so the demo is opened as localhost.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { demoPassword, openBrowser, openPerson, settled, shoot, skipWithoutBrowser } from './browser.ts'
import { Demo } from './demo.ts'

const email = 'demo@demo.example'

/** `isKey`: a security key without a PIN, which keeps no passkeys. */
async function addAuthenticator(cdp: CDPSession, isKey = false): Promise<string> {
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: isKey ? 'usb' : 'internal',
      hasResidentKey: !isKey,
      hasUserVerification: !isKey,
      isUserVerified: !isKey,
      automaticPresenceSimulation: true,
    },
  })
  return authenticatorId
}

describe('passkeys', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo()
  let browser: Browser
  let url: string
  before(async () => {
    await demo.start()
    url = demo.url.replace('127.0.0.1', 'localhost')
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  /** `inField`: whether passkeys are offered in the field of the e-mail address, where the virtual authenticator selects one at once. */
  async function open(inField = false) {
    const person = await openPerson(browser, url, email)
    if (!inField)
      await person.context.addInitScript(
        'PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false)',
      )
    const cdp = await person.context.newCDPSession(person.page)
    await cdp.send('WebAuthn.enable', { enableUI: false })
    return { ...person, cdp }
  }

  async function openProfile(page: Page) {
    await page.goto(`${url}/profile`)
    await settled(page)
  }

  /** Returns the recovery codes that the dialog shows; none if the account had a second factor before. */
  async function add(page: Page, name: string): Promise<string[]> {
    await page.getByRole('button', { name: 'Add passkey' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add passkey' })
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByRole('textbox', { name: 'Current password' }).fill(demoPassword)
    await shoot(page, 'passkey-add')
    await dialog.getByRole('button', { name: 'Continue' }).click()
    await dialog.getByText('Passkey added.').waitFor()
    await shoot(page, 'passkey-added')
    const codes = (await dialog.innerText()).match(/\b[a-z2-7]{5}-[a-z2-7]{5}\b/g) ?? []
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('listitem').filter({ hasText: name }).waitFor()
    return codes
  }

  async function signOut(page: Page) {
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
  }

  async function remove(page: Page, name: string) {
    await openProfile(page)
    await page.getByRole('button', { name: `Remove ${name}` }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Current password' }).fill(demoPassword)
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('Passkey removed.').waitFor()
  }

  const overview = (page: Page) => page.getByRole('heading', { name: 'Overview' })

  it('are added with recovery codes, sign in without address and password, are renamed and removed', async () => {
    const { context, page, pageErrors, cdp } = await open()
    await addAuthenticator(cdp)
    await openProfile(page)
    await page.getByText('No passkeys yet.').waitFor()
    assert.equal((await add(page, 'Laptop')).length, 10)
    await page.getByText('10 recovery codes left').waitFor()
    await page.getByRole('button', { name: 'Rename Laptop' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Laptop in Amsterdam')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await page.getByText('Laptop in Amsterdam').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await shoot(page, 'passkey-profile')
    await signOut(page)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await overview(page).waitFor()
    await remove(page, 'Laptop in Amsterdam')
    await page.getByText('No passkeys yet.').waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('are the second factor beside the password, also a security key without a PIN', async () => {
    const { context, page, pageErrors, cdp } = await open()
    await addAuthenticator(cdp, true)
    await openProfile(page)
    await add(page, 'Key')
    await signOut(page)
    await page.getByLabel('E-mail').fill(email)
    await page.getByRole('textbox', { name: 'Password' }).fill(demoPassword)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('textbox', { name: 'Recovery code' }).waitFor()
    await shoot(page, 'passkey-factor')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await overview(page).waitFor()
    await remove(page, 'Key')
    // The browser reports the answer that asks for the factor.
    assert.deepEqual(
      pageErrors.filter((error) => !error.includes('status of 401')),
      [],
    )
    await context.close()
  })

  it('are refused on the page if their counter falls, and the password with a recovery code still signs in', async () => {
    const { context, page, cdp } = await open()
    const authenticatorId = await addAuthenticator(cdp)
    await openProfile(page)
    const [code] = await add(page, 'Copied')
    await signOut(page)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await overview(page).waitFor()
    await signOut(page)
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId })
    await cdp.send('WebAuthn.clearCredentials', { authenticatorId })
    await cdp.send('WebAuthn.addCredential', {
      authenticatorId,
      credential: { ...credentials[0]!, signCount: 0 },
    })
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('The passkey was not accepted').waitFor()
    await shoot(page, 'passkey-refused')
    await page.getByLabel('E-mail').fill(email)
    await page.getByRole('textbox', { name: 'Password' }).fill(demoPassword)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('textbox', { name: 'Recovery code' }).fill(code!)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await overview(page).waitFor()
    await remove(page, 'Copied')
    await context.close()
  })

  it('are offered in the field of the e-mail address', async () => {
    const { context, page, cdp } = await open(true)
    await addAuthenticator(cdp)
    await openProfile(page)
    await add(page, 'Field')
    const isSignedIn = page.waitForResponse(
      (answer) => answer.url().endsWith('/v3/session/token') && answer.status() === 200,
    )
    await signOut(page)
    await isSignedIn
    await overview(page).waitFor()
    await remove(page, 'Field')
    await context.close()
  })

  it('are not offered at an IP address, and the profile names the address that has them', async () => {
    const { context, page } = await openPerson(browser, demo.url, email)
    await page.goto(`${demo.url}/profile`)
    await page.getByText(`Open this page as ${url} to add one.`).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Add passkey' }).count(), 0)
    await context.close()
  })
})
