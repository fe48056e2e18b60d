// Drafts and secrets in a real browser with the real server: a colleague's change or a return to the tab loses no
// text that the user has typed and no secret that must be stored.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  getAnnouncementRoute,
  listAnnouncementsRoute,
  updateAnnouncementRoute,
} from '@pharos/contract/byoip/announcement'
import { listPtrRecordsRoute, updatePtrRecordsRoute } from '@pharos/contract/dns/ptr'
import { listRecordSetsRoute, updateRecordSetRoute } from '@pharos/contract/dns/recordset'
import { getZoneSettingsRoute, updateZoneSettingsRoute } from '@pharos/contract/dns/settings'
import { getTeamRoute, updateTeamRoute } from '@pharos/contract/team/team'
import { createTokenRoute, getTokenRoute, updateTokenRoute } from '@pharos/contract/team/token'
import { createWebhookRoute, getWebhookRoute, updateWebhookRoute } from '@pharos/contract/messages/webhook'
import { TOTP } from 'otpauth'
import type { Browser, Page } from 'playwright-core'
import { enterTeam } from './enter-team.ts'
import { axeViolations } from './accessibility.ts'
import { demoPassword, openBrowser, openPerson, settled, shoot, skipWithoutBrowser } from './browser.ts'
import { Demo } from './demo.ts'
import { held, intercept } from './intercept.ts'
import { asUser } from './sample-data.ts'

const team = { team_id: 'current' } as const
const zone = { zone: 'harbor.example' }

describe('drafts of the portal', { skip: skipWithoutBrowser() }, () => {
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

  const person = (email = 'demo@demo.example') => openPerson(browser, demo.url, email)
  const colleague = () => asUser(demo.url, 'demo@demo.example')
  const newerNote = (page: Page) =>
    page.getByRole('alert').filter({ hasText: /Someone has changed (this|game\/A) meanwhile/ })
  const leave = (page: Page) =>
    page.getByRole('navigation').getByText('Attacks', { exact: true }).first().click()

  /** Returns to the tab until the page requests this again: an answer is not requested again in its first seconds. */
  async function comeBack(page: Page, path: RegExp): Promise<void> {
    const answered = page.waitForResponse(
      (response) => response.request().method() === 'GET' && path.test(new URL(response.url()).pathname),
    )
    do await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
    while (!(await Promise.race([answered.then(() => true), sleep(500, false)])))
  }

  it('of an announcement send what the person has changed since the dialog was opened, and nothing else', async () => {
    const { context, page, pageErrors } = await person()
    const call = await colleague()
    const { body } = await call(listAnnouncementsRoute, { query: { cidr: ['203.0.113.0/24'], limit: 1 } })
    const params = { announcement_id: body.results[0]!.id }
    await page.goto(`${demo.url}/announcements/${params.announcement_id}`)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Letter signatory').fill('Dana Demo, Head of Network')
    await call(updateAnnouncementRoute, { params, body: { description: 'Written by a colleague' } })
    await comeBack(page, /\/announcements\/\d+$/)
    await page.getByText('Written by a colleague').first().waitFor()
    await dialog.getByRole('button', { name: 'Save changes' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { body: saved } = await call(getAnnouncementRoute, { params, query: { include: 'details' } })
    assert.equal(saved.details!.description, 'Written by a colleague')
    assert.equal(saved.details!.loa_signatory, 'Dana Demo, Head of Network')
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('of the team follow a colleague, and then send what the person has changed, and nothing else', async () => {
    const { context, page, pageErrors } = await person()
    const call = await colleague()
    await page.goto(`${demo.url}/team/settings`)
    await page.getByLabel('NOC phone').waitFor()
    await call(updateTeamRoute, { params: team, body: { noc_phone: '+31 20 123 4567' } })
    await comeBack(page, /\/teams\/current$/)
    await page.waitForFunction(() =>
      [...document.querySelectorAll('input')].some(({ value }) => value === '+31 20 123 4567'),
    )
    await page.getByLabel('Abuse contact').fill('abuse@demo.example')
    await call(updateTeamRoute, { params: team, body: { technical_email: 'noc@demo.example' } })
    await comeBack(page, /\/teams\/current$/)
    await newerNote(page).waitFor()
    await shoot(page, 'drafts-team')
    assert.equal(await page.getByLabel('Abuse contact').inputValue(), 'abuse@demo.example')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const { body: saved } = await call(getTeamRoute, { params: team })
    assert.equal(saved.technical_email, 'noc@demo.example')
    assert.equal(saved.abuse_email, 'abuse@demo.example')
    await newerNote(page).waitFor({ state: 'detached' })
    assert.equal(await page.getByLabel('Technical contact').inputValue(), 'noc@demo.example')
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('of a token and of a webhook send what the person has changed, and nothing else', async () => {
    const { context, page, pageErrors } = await person()
    const call = await colleague()
    const { body: token } = await call(createTokenRoute, { body: { name: 'Backup', scopes: ['dns:read'] } })
    const dialog = page.getByRole('dialog')
    await page.goto(`${demo.url}/team/tokens`)
    await page.getByRole('row').filter({ hasText: 'Backup' }).getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Name').fill('Backup of zones')
    const ofToken = { token_id: token.id }
    await call(updateTokenRoute, { params: ofToken, body: { allowed_subnets: ['192.0.2.0/24'] } })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { body: savedToken } = await call(getTokenRoute, { params: ofToken })
    assert.deepEqual([savedToken.name, savedToken.allowed_subnets], ['Backup of zones', ['192.0.2.0/24']])
    const { body: webhook } = await call(createWebhookRoute, {
      body: { url: 'https://hooks.demo-networks.example/x', events: ['event.started'] },
    })
    const ofWebhook = { webhook_id: webhook.id }
    await page.goto(`${demo.url}/team/webhooks/${webhook.id}`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Description').fill('For the people on call')
    await call(updateWebhookRoute, { params: ofWebhook, body: { events: ['event.ended'] } })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { body: savedWebhook } = await call(getWebhookRoute, { params: ofWebhook })
    assert.deepEqual(
      [savedWebhook.description, savedWebhook.events],
      ['For the people on call', ['event.ended']],
    )
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('of a new announcement are asked about after the checks have run', async () => {
    const { context, page } = await person()
    await page.goto(`${demo.url}/announcements/new`)
    await page.getByLabel('Prefix', { exact: true }).fill('198.18.101.0/24')
    await page.getByLabel('Origin AS').fill('64496')
    const question = page.getByRole('dialog', { name: 'Discard changes?' })
    const keep = async () => {
      await leave(page)
      await question.getByRole('button', { name: 'Keep editing' }).click()
      await question.waitFor({ state: 'detached' })
    }
    await page.getByRole('button', { name: 'Run checks' }).click()
    await page.getByRole('button', { name: 'Add prefix' }).waitFor()
    await keep()
    await page.getByLabel('Description').fill('Not added yet')
    await keep()
    assert.equal(await page.getByLabel('Description').inputValue(), 'Not added yet')
    await page.getByRole('button', { name: 'Run checks' }).click()
    await page.getByRole('button', { name: 'Add prefix' }).click()
    await page.getByRole('heading', { name: '198.18.101.0/24' }).waitFor()
    await leave(page)
    await page.getByRole('heading', { name: 'Attacks', level: 1 }).waitFor()
    await context.close()
  })

  it('of the settings of a zone stay when a colleague saves, until the newer version is loaded', async () => {
    const { context, page, pageErrors } = await person()
    const call = await colleague()
    const save = async (changes: { history_days?: number; default_ttl?: number }) => {
      const { body } = await call(getZoneSettingsRoute, { params: zone })
      await call(updateZoneSettingsRoute, { params: zone, body: { ...body, ...changes } })
    }
    const { body: first } = await call(getZoneSettingsRoute, { params: zone })
    await page.goto(`${demo.url}/zones/${zone.zone}?tab=settings`)
    const ttl = page.getByLabel('Default TTL')
    await ttl.fill('7200')
    await save({ history_days: first.history_days + 1 })
    await comeBack(page, /\/zones\/\d+\/settings$/)
    await newerNote(page).waitFor()
    await settled(page)
    await shoot(page, 'drafts-zone')
    assert.deepEqual(await axeViolations(page), [])
    assert.match(await ttl.inputValue(), /^7200/)
    // The whole set is sent: the server rejects a set that is based on an earlier version.
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Someone else changed this').waitFor()
    assert.match(await ttl.inputValue(), /^7200/)
    await newerNote(page).getByRole('button', { name: 'Discard and load the new version' }).click()
    await newerNote(page).waitFor({ state: 'detached' })
    assert.doesNotMatch(await ttl.inputValue(), /^7200/)
    await ttl.fill('5400')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Settings saved.').waitFor()
    const { body: last } = await call(getZoneSettingsRoute, { params: zone })
    assert.deepEqual([last.default_ttl, last.history_days], [5400, first.history_days + 1])
    // The saved version is the new base.
    await ttl.fill('7200')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Settings saved.').nth(1).waitFor()
    assert.equal(await newerNote(page).count(), 0)
    assert.deepEqual(
      pageErrors.filter((error) => !/status of 412/.test(error)),
      [],
    )
    await context.close()
  })

  it('of record sets stay when a colleague changes them, until the newer version is loaded', async () => {
    const { context, page, pageErrors } = await person()
    const call = await colleague()
    const params = { ...zone, name: 'game', type: 'A' }
    await page.goto(`${demo.url}/zones/${zone.zone}`)
    await page.getByRole('button', { name: 'Edit game/A' }).click()
    const values = page.getByLabel('Values, one per line')
    await values.fill('203.0.113.66')
    await call(updateRecordSetRoute, { params, body: { records: ['203.0.113.67'] } })
    await newerNote(page).waitFor()
    await settled(page)
    await shoot(page, 'drafts-records')
    assert.equal(await values.inputValue(), '203.0.113.66')
    await newerNote(page).getByRole('button', { name: 'Discard and load the new version' }).click()
    await newerNote(page).waitFor({ state: 'detached' })
    assert.equal(await values.inputValue(), '203.0.113.67')
    // An open row without changes follows.
    await call(updateRecordSetRoute, { params, body: { records: ['203.0.113.68'] } })
    await page.waitForFunction(() =>
      [...document.querySelectorAll('textarea')].some(({ value }) => value === '203.0.113.68'),
    )
    assert.equal(await newerNote(page).count(), 0)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('of a reverse name stay when a colleague names the address, and are not saved unless edited', async () => {
    const { context, page, pageErrors } = await person()
    const call = await colleague()
    const nameNow = async (ip: string) =>
      (await call(listPtrRecordsRoute, { query: { cidr: `${ip}/32` } })).body.results[0]?.ptrdname
    await page.goto(`${demo.url}/reverse?network=203.0.113.0%2F24`)
    const grid = page.getByRole('group', { name: 'Addresses of 203.0.113.0/24' })
    await grid.getByRole('button', { name: '203.0.113.40: no name' }).click()
    const field = page.getByRole('textbox', { name: 'Name of 203.0.113.40' })
    await field.waitFor()
    await call(updatePtrRecordsRoute, {
      body: { records: [{ ip: '203.0.113.40', ptrdname: 'gw.harbor.example' }] },
    })
    await comeBack(page, /\/dns\/ptr$/)
    await page.locator('[aria-label="203.0.113.40: gw.harbor.example."]').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await field.waitFor({ state: 'detached' })
    assert.equal(await nameNow('203.0.113.40'), 'gw.harbor.example.')
    // The names of one network must not appear under the next network.
    await using names = await intercept(page, /dns\/ptr\?.*198\.51\.100/, held)
    await page.getByRole('combobox', { name: 'Network' }).click()
    await page.getByRole('option', { name: '198.51.100.0/24' }).click()
    await page.waitForURL(/198\.51\.100/)
    await page.getByText('gw.harbor.example.').waitFor({ state: 'detached' })
    names.release()
    await page.getByRole('group', { name: 'Addresses of 198.51.100.0/24' }).waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('of a roll back and of an import change only the version that was reviewed', async () => {
    const { context, page, pageErrors } = await person()
    const call = await colleague()
    const params = { ...zone, name: 'game', type: 'A' }
    const change = (address: string) =>
      call(updateRecordSetRoute, { params, body: { records: [address] } }).then(({ body }) => body)
    const recordsNow = async () =>
      (await call(listRecordSetsRoute, { params: zone, query: { name: ['game'] } })).body.results[0]?.records
    const note = page.getByRole('alert').filter({ hasText: 'Someone has changed harbor.example meanwhile' })
    const load = note.getByRole('button', { name: 'Discard and load the new version' })
    await change('203.0.113.71')
    await change('203.0.113.72')
    await page.goto(`${demo.url}/zones/${zone.zone}?tab=history`)
    await page
      .getByRole('button', { name: /^Roll back to version/ })
      .first()
      .click()
    const dialog = page.getByRole('dialog')
    const rollBack = dialog.getByRole('button', { name: 'Roll back', exact: true })
    await dialog.getByText('203.0.113.71').waitFor()
    await change('203.0.113.73')
    await rollBack.click()
    await note.waitFor()
    await settled(page)
    await shoot(page, 'drafts-rollback')
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(await recordsNow(), ['203.0.113.73'])
    await load.click()
    await dialog.getByText('203.0.113.73').waitFor()
    await rollBack.click()
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual(await recordsNow(), ['203.0.113.71'])
    await page.getByRole('tab', { name: 'Import and export' }).click()
    await page.getByLabel('Text of the zone file').fill('game 300 A 203.0.113.74')
    await page.getByRole('button', { name: 'Check file' }).click()
    const apply = page.getByRole('button', { name: 'Apply import' })
    await apply.waitFor()
    await change('203.0.113.75')
    await apply.click()
    await note.waitFor()
    assert.deepEqual(await recordsNow(), ['203.0.113.75'])
    await load.click()
    await page.getByRole('group', { name: 'Changes' }).getByText('203.0.113.75').waitFor()
    await apply.click()
    await page.getByRole('row').filter({ hasText: '203.0.113.74' }).waitFor()
    assert.deepEqual(
      pageErrors.filter((error) => !/status of 412/.test(error)),
      [],
    )
    await context.close()
  })

  it('of a withdrawal change only the regions that were reviewed', async () => {
    const { context, page, pageErrors } = await person()
    const call = await colleague()
    const cidr = '198.51.100.0/24'
    const { body: list } = await call(listAnnouncementsRoute, { query: { cidr: [cidr], limit: 1 } })
    const { id, regions } = list.results[0]!
    const params = { announcement_id: id }
    const isEnabled = async () => (await call(getAnnouncementRoute, { params })).body.enabled
    await page.goto(`${demo.url}/announcements/${id}`)
    await page.getByLabel(`Announce ${cidr}`).click()
    const dialog = page.getByRole('dialog')
    const steps = dialog.getByText(`Withdraw ${cidr} from`)
    const withdraw = dialog.getByRole('button', { name: 'Withdraw' })
    await steps.first().waitFor()
    assert.equal(await steps.count(), regions.length)
    await call(updateAnnouncementRoute, { params, body: { regions: regions.slice(1) } })
    await withdraw.click()
    await dialog
      .getByRole('alert')
      .filter({ hasText: `Someone has changed ${cidr} meanwhile` })
      .waitFor()
    assert.equal(await isEnabled(), true)
    await dialog.getByRole('button', { name: 'Discard and load the new version' }).click()
    await steps.nth(regions.length - 1).waitFor({ state: 'detached' })
    await withdraw.click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await isEnabled(), false)
    assert.deepEqual(
      pageErrors.filter((error) => !/status of 412/.test(error)),
      [],
    )
    await context.close()
  })

  it('of a team are asked about before another team is opened, here or in another tab', async () => {
    const { context, page, pageErrors } = await person('staff@demo.example')
    const question = page.getByRole('dialog', { name: 'Discard changes?' })
    const phone = page.getByLabel('NOC phone')
    const [demoTeam, other] = ['Demo Networks', 'Other Networks']
    const inTeam = (tab: Page, name: string) =>
      tab.getByRole('navigation').getByText(name, { exact: true }).first()
    async function openOther(tab: Page): Promise<void> {
      await tab.goto(`${demo.url}/staff/customers`)
      await tab.getByText(other, { exact: true }).first().click()
      await enterTeam(tab, { change: true, within: tab.locator('[data-panel]') })
      await inTeam(tab, other).waitFor()
    }
    async function goBack(tab: Page): Promise<void> {
      await inTeam(tab, other).click()
      await tab.getByRole('menuitem', { name: demoTeam }).click()
    }
    await openOther(page)
    await page.goto(`${demo.url}/team/settings`)
    await phone.fill('+31 20 765 4321')
    await goBack(page)
    await question.getByRole('button', { name: 'Keep editing' }).click()
    await question.waitFor({ state: 'detached' })
    assert.equal(await phone.inputValue(), '+31 20 765 4321')
    await inTeam(page, other).waitFor()
    // By another tab: to keep editing takes both tabs back.
    const tab = await context.newPage()
    await tab.goto(demo.url)
    await goBack(tab)
    await question.waitFor()
    await settled(page)
    await shoot(page, 'drafts-team-change')
    assert.deepEqual(await axeViolations(page), [])
    await question.getByRole('button', { name: 'Keep editing' }).click()
    await inTeam(tab, other).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const { body: saved } = await (
      await asUser(demo.url, 'other@demo.example')
    )(getTeamRoute, { params: team })
    assert.equal(saved.noc_phone, '+31 20 765 4321')
    // An empty dialog is closed, so that it cannot be sent to the other team.
    await page.goto(`${demo.url}/team/members`)
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog').waitFor()
    await goBack(tab)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await inTeam(page, demoTeam).waitFor()
    await openOther(tab)
    await page.goto(`${demo.url}/team/settings`)
    await phone.fill('+31 20 765 9999')
    await goBack(tab)
    await question.getByRole('button', { name: 'Discard changes' }).click()
    await inTeam(page, demoTeam).waitFor()
    await settled(page)
    assert.notEqual(await phone.inputValue(), '+31 20 765 9999')
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('keep recovery codes in view until their dialog is closed, also where the team requires them', async () => {
    const { context, page, pageErrors } = await person('other@demo.example')
    const dialog = page.getByRole('dialog')
    async function setUp(): Promise<string[]> {
      await page.getByRole('button', { name: 'Set up' }).click()
      await dialog.getByRole('textbox', { name: 'Current password' }).fill(demoPassword)
      await dialog.getByRole('button', { name: 'Continue' }).click()
      const secret = await dialog.locator('code').first().innerText()
      await dialog.getByLabel('Six-digit code').fill(new TOTP({ secret }).generate())
      await dialog.getByRole('button', { name: 'Turn on' }).click()
      const codes = await dialog.locator('pre').innerText()
      await comeBack(page, /\/session\/totp$/)
      await page.getByText('10 recovery codes left').waitFor()
      await page.mouse.click(5, 5)
      assert.equal(await dialog.locator('pre').innerText(), codes)
      await dialog.getByRole('button', { name: 'I have saved these codes' }).click()
      await dialog.waitFor({ state: 'detached' })
      return codes.trim().split('\n')
    }
    await page.goto(`${demo.url}/profile`)
    const [code] = await setUp()
    await page.goto(`${demo.url}/team/settings`)
    await page.getByRole('switch', { name: 'Require two-factor authentication' }).press('Space')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await page.goto(`${demo.url}/profile`)
    await page.getByRole('button', { name: 'Turn off' }).click()
    await dialog.getByRole('textbox', { name: 'Current password' }).fill(demoPassword)
    await dialog.getByLabel('Authenticator or recovery code').fill(code!)
    await dialog.getByRole('button', { name: 'Turn off' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.goto(`${demo.url}/announcements`)
    await page.getByRole('heading', { name: 'One more step' }).waitFor()
    await setUp()
    await page.getByRole('link', { name: '192.0.2.0/24' }).waitFor()
    assert.deepEqual(
      pageErrors.filter((error) => !/status of 403/.test(error)),
      [],
    )
    await context.close()
  })
})
