// SAML in a real browser: an admin adds a provider by the URL of its metadata, tests and activates it; a person signs in, also from a tile of the identity provider.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { startSaml, type TestSaml } from '../../server/src/drivers/saml/testing.ts'
import { openBrowser, openPerson, settled, shoot, skipWithoutBrowser } from './browser.ts'
import { Demo } from './demo.ts'

const admin = 'demo@demo.example'
const company = 'lindholm.example'

describe('SAML', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo({ settings: { PHAROS_SSO_NETWORKS_ALLOWED: '127.0.0.0/8' } })
  let browser: Browser
  let idp: TestSaml
  let acsUrl: string
  before(async () => {
    await demo.start()
    await demo.verifyDomain(company, 'demo')
    idp = await startSaml()
    idp.person = { nameId: 'maja', email: `maja@${company}`, groups: ['net-ops'] }
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await idp?.[Symbol.asyncDispose]()
    await demo.stop()
  })

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

  it('is connected, tested and activated by an admin', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, admin)
    await page.goto(`${demo.url}/team/sign-in`)
    await button(page, 'Add SAML provider').click()
    const dialog = page.getByRole('dialog', { name: 'Add SAML provider' })
    await dialog.getByLabel('Name').fill('Lindholm login')
    await dialog.getByLabel('Metadata (XML)').fill('<a/>')
    await button(page, 'Add').click()
    await dialog.getByText(/has no identity provider/).waitFor()
    await shoot(page, 'saml-add')
    await dialog.getByLabel('Metadata (XML)').fill('')
    await dialog.getByLabel('Metadata URL').fill(idp.metadataUrl)
    await button(page, 'Add').click()
    await dialog.waitFor({ state: 'hidden' })
    const row = page.getByRole('listitem').filter({ hasText: 'Lindholm login' })
    acsUrl = /http:\S+\/sso\/saml\/[a-z2-7]{12}\/acs/.exec(await row.innerText())![0]
    await row.getByRole('switch', { name: `Sign in addresses at ${company}` }).click()
    await button(page, 'Add group').click()
    const mapping = page.getByRole('dialog', { name: 'Add group' })
    await mapping.getByRole('textbox', { name: 'Group' }).fill('net-ops')
    await mapping.getByRole('button', { name: 'Add group' }).click()
    await mapping.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Test Lindholm login' }).click()
    await page.getByText('This person could sign in.').waitFor()
    assert.ok(!page.url().includes('state='), page.url())
    await page.getByRole('link', { name: 'Back to identity providers' }).click()
    await button(page, 'Activate').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click()
    await page.getByText('Active', { exact: true }).waitFor()
    await settled(page)
    await shoot(page, 'saml-active')
    await button(page, 'Edit Lindholm login').click()
    await page.getByRole('dialog').getByLabel('Attribute with the groups').waitFor()
    await shoot(page, 'saml-edit')
    const edit = page.getByRole('dialog')
    await edit.getByLabel('Name').fill('Company login')
    await edit.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Company login', exact: true }).waitFor()
    // The first metadata is refused, and pages of the identity provider are not ours.
    const others = pageErrors.filter(
      (error) => !error.includes(' 422 ') && !error.includes(new URL(idp.entityId).host),
    )
    assert.deepEqual(others, [])
    await context.close()
  })

  it('signs a person in, and returns to the page that was asked for', async () => {
    const { context, page } = await openPerson(browser, demo.url)
    await page.goto(`${demo.url}/sign-in?to=%2Fzones`)
    await page.getByLabel('E-mail').fill(`maja@${company}`)
    await button(page, 'Continue with single sign-on').click()
    await page.waitForURL(`${demo.url}/zones**`)
    await context.close()
  })

  it('signs a person in who begins at the identity provider, with a request of our own', async () => {
    const { context, page } = await openPerson(browser, demo.url)
    await page.goto(`${idp.signOnUrl.split('?')[0]!.replace('/sso', '/metadata')}`)
    await page.setContent(
      `<form method="post" action="${acsUrl}"><input name="SAMLResponse" value="YQ=="></form>`,
    )
    await page.evaluate(() => document.forms[0]!.submit())
    await page.getByRole('button', { name: /^Account of / }).waitFor()
    await context.close()
  })
})
