// Single sign-on in a real browser with a real OpenID provider: an admin connects it, tests it and activates it; a person of the company signs in, gets the roles of
// their group, and reads why a sign-in fails.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { startOidc, type TestOidc } from '../../server/src/drivers/oidc/testing.ts'
import { demoPassword, openBrowser, openPerson, settled, shoot, skipWithoutBrowser } from './browser.ts'
import { Demo } from './demo.ts'

const admin = 'demo@demo.example'
const company = 'lindholm.example'

describe('single sign-on', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo({ settings: { PHAROS_SSO_NETWORKS_ALLOWED: '127.0.0.0/8' } })
  let browser: Browser
  let idp: TestOidc
  before(async () => {
    await demo.start()
    await demo.verifyDomain(company, 'demo')
    idp = await startOidc({ redirectUris: [`${demo.url}/sign-in/return/aaaaaaaaaaaa`] })
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await idp?.[Symbol.asyncDispose]()
    await demo.stop()
  })

  /** Without the requests to the provider, whose pages the browser opens. */
  const ofPortal = (errors: readonly string[]) => errors.filter((error) => !error.includes(idp.issuer))

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

  async function connect(page: Page): Promise<void> {
    await page.goto(`${demo.url}/team/sign-in`)
    await page.getByText('No identity providers yet').waitFor()
    await shoot(page, 'sso-none')
    await button(page, 'Add OpenID provider').click()
    const dialog = page.getByRole('dialog', { name: 'Add OpenID provider' })
    await dialog.getByLabel('Name').fill('Lindholm login')
    await dialog.getByLabel('Issuer').fill(idp.issuer)
    await dialog.getByLabel('Client ID').fill(idp.clientId)
    await dialog.getByRole('textbox', { name: 'Client secret' }).fill(idp.clientSecret)
    await shoot(page, 'sso-add')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
    const row = page.getByRole('listitem').filter({ hasText: 'Lindholm login' })
    const text = await row.innerText()
    idp.register([/http:\S+\/sign-in\/return\/[a-z2-7]{12}/.exec(text)![0]])
    await row.getByRole('switch', { name: `Sign in addresses at ${company}` }).click()
    await button(page, 'Add group').click()
    const mapping = page.getByRole('dialog', { name: 'Add group' })
    await mapping.getByRole('textbox', { name: 'Group' }).fill('net-ops')
    await mapping.getByRole('button', { name: 'Add group' }).click()
    await mapping.waitFor({ state: 'hidden' })
    await row.getByText('net-ops → Reader').waitFor()
    await shoot(page, 'sso-draft')
  }

  it('is connected, tested and activated by an admin', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, admin)
    await connect(page)
    idp.person = { sub: 'maja', email: `maja@${company}`, email_verified: true, groups: ['net-ops'] }
    await page.getByRole('button', { name: 'Test Lindholm login' }).click()
    await page.getByText('This person could sign in.').waitFor()
    assert.ok(!page.url().includes('code='), page.url())
    await shoot(page, 'sso-tested')
    await page.getByRole('link', { name: 'Back to identity providers' }).click()
    await button(page, 'Activate').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click()
    await page.getByText('Active', { exact: true }).waitFor()
    await settled(page)
    await shoot(page, 'sso-active')
    assert.deepEqual(ofPortal(pageErrors), [])
    await context.close()
  })

  async function continueAs(page: Page, email: string): Promise<void> {
    await page.goto(`${demo.url}/sign-in?to=%2Fzones`)
    await page.getByLabel('E-mail').fill(email)
    await button(page, 'Continue with single sign-on').waitFor()
    await shoot(page, 'sso-sign-in')
    await button(page, 'Continue with single sign-on').click()
  }

  it('signs a person of the company in, and returns to the page that was asked for', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url)
    idp.person = {
      sub: 'tomas',
      email: `tomas@${company}`,
      email_verified: true,
      name: 'Tomás Ortega',
      groups: ['net-ops'],
    }
    await continueAs(page, `tomas@${company}`)
    await page.waitForURL(`${demo.url}/zones**`)
    await page.getByRole('button', { name: 'Account of Tomás Ortega' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Account of Tomás Ortega' }).waitFor()
    assert.deepEqual(ofPortal(pageErrors), [])
    await page.goto(`${demo.url}/profile`)
    await page.getByText('Needs a sign-in with your password or a passkey.').nth(2).waitFor()
    assert.equal(await page.getByText('Sign in with your password').count(), 1)
    await shoot(page, 'sso-profile')
    await context.close()
  })

  it('tells a person without a role why, and the admin with the same id', async () => {
    const { context, page } = await openPerson(browser, demo.url)
    idp.person = { sub: 'eve', email: `eve@${company}`, email_verified: true, groups: ['others'] }
    await continueAs(page, `eve@${company}`)
    const alert = page.getByRole('alert')
    await alert.getByText('You have no role in the team.').waitFor()
    await shoot(page, 'sso-failed')
    const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(await alert.innerText())![0]
    await context.close()
    const person = await openPerson(browser, demo.url, admin)
    await person.page.goto(`${demo.url}/team/sign-in`)
    await person.page.getByText(`Request ${id}`).waitFor()
    await shoot(person.page, 'sso-attempts')
    await person.page.goto(`${demo.url}/profile`)
    await person.page.getByText('No identity provider is linked.').waitFor()
    await person.context.close()
  })

  it('is required by an admin after the missing steps, and asks everybody else to sign in with it', async () => {
    await demo.change(`insert into provider_mappings select id, 'chiefs', '{admin}' from identity_providers`)
    idp.person = { sub: 'chief', email: `chief@${company}`, email_verified: true, groups: ['chiefs'] }
    const { context, page, pageErrors } = await openPerson(browser, demo.url)
    await continueAs(page, `chief@${company}`)
    await page.waitForURL(`${demo.url}/zones**`)
    await page.goto(`${demo.url}/team/sign-in`)
    const required = page.getByRole('radio', { name: 'Required', exact: true })
    await required.check()
    await page.getByText('Create ten recovery codes').waitFor()
    await shoot(page, 'sso-policy-missing')
    await button(page, 'New recovery codes').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Create codes' }).click()
    await dialog.getByText('They will not be shown again').waitFor()
    const codes = (await dialog.innerText()).match(/[a-z2-7]{5}-[a-z2-7]{5}/g)!
    assert.equal(codes.length, 10)
    await shoot(page, 'sso-recovery-codes')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await required.check()
    await button(page, 'Change policy').click()
    await dialog.getByRole('button', { name: 'Change policy' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await settled(page)
    await shoot(page, 'sso-policy-required')
    assert.deepEqual(ofPortal(pageErrors), [])
    await context.close()
    await opensWithCode(codes[0]!)
  })

  /** The provider names another person: the second time, the page waits, and an admin opens the team with a recovery code. */
  async function opensWithCode(code: string): Promise<void> {
    idp.person = { sub: 'eve', email: `eve@${company}`, email_verified: true, groups: ['others'] }
    const { context, page } = await openPerson(browser, demo.url)
    await page.goto(`${demo.url}/sign-in`)
    await page.getByLabel('E-mail').fill(admin)
    await page.getByRole('textbox', { name: 'Password' }).fill(demoPassword)
    // The sign-in with the provider starts before a page of the team is complete.
    await button(page, 'Sign in').click()
    await page.waitForURL(/\/sign-in\/return\//)
    await page.getByRole('alert').waitFor()
    await demo.change(
      `update session_proofs set strong = true`,
      `insert into second_factors (user_id, pending_until) select id, 'epoch' from users where email = '${admin}'`,
    )
    await page.goto(`${demo.url}/zones`)
    await page.getByLabel('Recovery code of the team').fill(code)
    await settled(page)
    await shoot(page, 'sso-sign-in-required')
    await button(page, 'Open with the recovery code').click()
    await page.getByRole('heading', { name: 'Zones' }).first().waitFor()
    await context.close()
  }
})
