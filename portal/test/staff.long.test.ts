// Pages of staff in the portal: the inbox and its decisions, customers, regions and routers, registries, detectors that fail.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { listAnnouncementsRoute } from '@pharos/contract/byoip/announcement'
import { createClient } from '@pharos/contract/client'
import { draftLetterRoute, uploadLetterRoute } from '@pharos/contract/byoip/letter'
import { updateShieldRulesRoute } from '@pharos/contract/shield/shield'
import { createSessionTokenRoute } from '@pharos/contract/session/session'
import type { Browser, Page } from 'playwright-core'
import { enterTeam } from './enter-team.ts'
import { assertFits, axeViolations } from './accessibility.ts'
import {
  demoPassword,
  openBrowser,
  openPerson,
  settled,
  shoot,
  skipWithoutBrowser,
  until,
} from './browser.ts'
import { Demo } from './demo.ts'
import { changed, intercept } from './intercept.ts'

/** The provider's side of the sidebar: the overview has links with the same names. */
const side = (page: Page) => page.getByRole('region', { name: 'Provider', exact: true })

describe('the portal for staff', { skip: skipWithoutBrowser() }, () => {
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

  it('shows routers with their sessions, and why the only router of a region is not drained', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    await side(page).getByRole('link', { name: 'Regions', exact: true }).click()
    const ams = page.getByRole('region', { name: 'Amsterdam' })
    await ams.getByText('OK', { exact: true }).waitFor()
    await ams.getByText(/AS\d+: established \(IPv4, IPv6\)/).waitFor()
    await ams.getByRole('button', { name: 'Drain router ams' }).click()
    const dialog = page.getByRole('dialog', { name: 'Drain router ams' })
    await dialog.getByText('No other router of the region carries its routes').waitFor()
    await dialog.getByRole('button', { name: 'Drain' }).click()
    await dialog.getByText('Router ams is the only one of region ams that is not drained').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await look(page, 'staff-regions')
    // A colleague drains it while the dialog is open.
    const drained = changed((body: { results: { routers: { drained: string | null }[] }[] }) => {
      for (const { routers } of body.results)
        for (const router of routers) router.drained = '2026-11-22T10:00:00Z'
      return body
    })
    await using _ = await intercept(page, '**/v3/admin/regions?**', drained)
    await ams.getByRole('button', { name: 'Drain router ams' }).click()
    await page.locator('[aria-label="Undrain router ams"]').waitFor()
    await dialog.getByRole('button', { name: 'Drain', exact: true }).waitFor()
    assert.deepEqual(
      pageErrors.filter((one) => !one.includes('409')),
      [],
    )
    await context.close()
  })

  it('shows which detector fails, and opens the delivery with the reason and what was received', async () => {
    const sent = await fetch(`${demo.url}/v3/ingest/events/fastnetmon`, {
      method: 'POST',
      headers: { authorization: 'Token demo-secret', 'content-type': 'application/json' },
      body: '{"action":"ban","ip":"203.0.113.7"}',
    })
    assert.equal(sent.status, 202)
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    await side(page).getByRole('link', { name: 'Detectors', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: '1 detector fails' }).waitFor()
    const sources = page.getByRole('region', { name: 'Sources' })
    await sources.getByText('/attack_details: an object is expected, not undefined').waitFor()
    await look(page, 'staff-detectors')
    await sources.getByRole('button', { name: 'Show delivery of FastNetMon Advanced' }).click()
    const dialog = page.locator('[data-panel]')
    await dialog.getByText('An object is expected, not undefined.').waitFor()
    await dialog.getByText('"ip": "203.0.113.7"').waitFor()
    await settled(page)
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('shows a letter beside what it has to contain, and rejects it with a reason by key', async () => {
    await uploadLetter()
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    await page.goto(`${demo.url}/staff/inbox`)
    await page.getByRole('heading', { name: 'Inbox' }).waitFor()
    await page.getByRole('button', { name: /Letter for 3fff:100::\/32/ }).click()
    const picture = page.getByRole('img', { name: 'Page 1 of letter.pdf' })
    await picture.waitFor()
    const checks = page.getByRole('region', { name: 'Check against the request' })
    const accept = checks.getByRole('button', { name: 'Accept' })
    assert.ok(await accept.isDisabled())
    for (const box of await checks.getByRole('checkbox').all()) await box.check()
    await accept.waitFor()
    assert.ok(await accept.isEnabled())
    await look(page, 'staff-letter')
    await page.getByRole('heading', { name: 'Inbox' }).click()
    await page.keyboard.press('r')
    const dialog = page.getByRole('dialog', { name: 'Reject the letter?' })
    await dialog.getByRole('button', { name: 'The letter is not signed by a named person.' }).click()
    await dialog.getByRole('button', { name: 'Reject', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /Letter for 3fff:100::\/32/ }).waitFor({ state: 'detached' })
    await page.goto(`${demo.url}/staff/letters?status=all`)
    await page.getByRole('row').filter({ hasText: '3fff:100::/32' }).getByText('Rejected').waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('opens the portal as a customer, says so on every page, and leads back', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    await side(page).getByRole('link', { name: 'Customers', exact: true }).click()
    await page.getByText('Other Networks', { exact: true }).first().click()
    const panel = page.locator('[data-panel]')
    await panel.getByText('Security events').waitFor()
    await look(page, 'staff-customers')
    await enterTeam(page, { within: panel })
    const banner = page.getByRole('status').filter({ hasText: 'You are in Other Networks' })
    await banner.getByText('The customer asked for help.').waitFor()
    await banner.getByText(/Reading only\. (1 h|59 min) left/).waitFor()
    await look(page, 'staff-in-team')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page
      .getByRole('link', { name: /^Announcements/ })
      .first()
      .click()
    await page.getByRole('link', { name: '192.0.2.0/24' }).waitFor()
    await banner.getByRole('button', { name: 'Close access' }).click()
    await page.getByRole('heading', { name: 'Other Networks' }).waitFor()
    await banner.waitFor({ state: 'detached' })
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('suspends an announcement with a reason that the customer sees, and resumes it', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    await page.goto(`${demo.url}/staff/customers`)
    await page.getByRole('row').filter({ hasText: 'Demo Networks' }).click()
    await page.locator('[data-panel]').getByRole('link', { name: 'Open page' }).click()
    const row = page.getByRole('row').filter({ hasText: '203.0.113.0/24' })
    await row.getByRole('button', { name: 'Suspend 203.0.113.0/24' }).click()
    const dialog = page.getByRole('dialog', { name: 'Suspend 203.0.113.0/24?' })
    await dialog.getByText(/is withdrawn from/).waitFor()
    await dialog.getByLabel('Reason').fill('The prefix is reported as hijacked.')
    await dialog.getByRole('button', { name: 'Suspend' }).click()
    await row.getByText('The prefix is reported as hijacked.').waitFor()
    await look(page, 'staff-customer')
    const customer = await openPerson(browser, demo.url, 'demo@demo.example')
    await customer.page.goto(`${demo.url}/announcements?cidr=203.0.113.0%2F24`)
    await customer.page.getByRole('link', { name: '203.0.113.0/24' }).click()
    await customer.page.getByText('The prefix is reported as hijacked.').first().waitFor()
    await row.getByRole('button', { name: 'Resume 203.0.113.0/24' }).click()
    await page.getByRole('dialog', { name: 'Resume 203.0.113.0/24?' }).waitFor()
    // The effects have the focus: Enter confirms.
    await page.keyboard.press('Enter')
    await row.getByRole('button', { name: 'Suspend 203.0.113.0/24' }).waitFor()
    assert.deepEqual([...pageErrors, ...customer.pageErrors], [])
    await Promise.all([context.close(), customer.context.close()])
  })

  it('shows how fresh the registries are', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    await side(page).getByRole('link', { name: 'Registries', exact: true }).click()
    const sources = page.getByRole('region', { name: 'Sources' })
    await sources.getByRole('cell', { name: 'ROAs (RPKI)' }).waitFor()
    await sources.getByRole('cell', { name: 'Route objects (IRR)' }).first().waitFor()
    await look(page, 'staff-registries')
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('decides about held shield rules with their effect, and the customer sees what was decided', async () => {
    const customer = await openPerson(browser, demo.url, 'demo@demo.example')
    for (const [prefix, isApproval] of [
      ['198.18.64.0/22', true],
      ['198.51.100.0/24', false],
    ] as const) {
      await dropAll(prefix)
      const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
      await page.goto(`${demo.url}/staff/inbox`)
      await page.getByRole('button', { name: new RegExp(`Drop or limit all traffic to ${prefix}`) }).click()
      await page.getByRole('region', { name: 'Rules of the list' }).getByText('Drop: All traffic').waitFor()
      await page.getByRole('region', { name: 'Effect in the last hour' }).getByText(/flow/i).first().waitFor()
      await page.getByRole('button', { name: isApproval ? /^Approve/ : /^Reject/ }).click()
      const dialog = page.getByRole('dialog', { name: isApproval ? 'Approve changes?' : 'Keep as it is?' })
      await dialog.getByRole('button', { name: isApproval ? 'Approve' : 'Reject', exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      await customer.page.goto(`${demo.url}/shield/rules?prefix=${encodeURIComponent(prefix)}`)
      await customer.page
        .getByText(isApproval ? 'Active' : /The provider did not approve the list/)
        .first()
        .waitFor()
      assert.deepEqual(pageErrors, [])
      await context.close()
    }
    assert.deepEqual(customer.pageErrors, [])
    await customer.context.close()
  })

  it('shows one request over all regions with its effect, and approves it by key', async () => {
    await demo.disableUnasked()
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    await page.getByRole('link', { name: 'Open inbox' }).click()
    const requests = page.getByRole('list', { name: 'Requests' })
    await requests
      .getByRole('button', { name: /Withdraw \d+ prefixes/ })
      .first()
      .click()
    const request = page.getByRole('region', { name: /^Withdraw \d+ prefixes in \d regions\.$/ })
    await request.getByText('Until you decide, nothing is withdrawn or changed.').waitFor()
    const effects = page.getByRole('region', { name: 'What happens' })
    // Not the prefix that was suspended before: that is a request of its own.
    await effects.getByRole('cell', { name: '198.51.100.0/24' }).waitFor()
    await effects.getByText('Nowhere').first().waitFor()
    await look(page, 'staff-inbox')
    await page.getByRole('heading', { name: 'Inbox' }).click()
    await page.keyboard.press('a')
    const approval = page.getByRole('dialog', { name: /^Approve the request of / })
    await approval.getByText(/withdrawn from all routers in/).waitFor()
    await approval.getByText(/valid for 15 minutes/).waitFor()
    await page.keyboard.press('Enter')
    await approval.waitFor({ state: 'detached' })
    // A decision covers every request of these regions. A prefix disabled while routers were compared is another request.
    await until('no withdrawal to be left to decide', async () => {
      const left = requests.getByRole('button', { name: /Withdraw / })
      if ((await left.count()) === 0) return
      await left.first().click({ timeout: 5_000 })
      await page.getByRole('heading', { name: 'Inbox' }).click()
      await page.keyboard.press('a')
      await page.getByRole('dialog', { name: /^Approve / }).waitFor({ timeout: 5_000 })
      await page.keyboard.press('Enter')
      throw new Error('a withdrawal waits')
    })
    // What has nothing to do with routes still waits.
    await requests.getByRole('button', { name: /^Demo Networks.*Cross connect/ }).waitFor()
    await page.getByText('Decided', { exact: true }).click()
    const decisions = page.getByRole('list', { name: 'Requests' })
    await decisions
      .getByRole('button', { name: /in ams.*Approved/ })
      .first()
      .click()
    await page
      .getByRole('region', { name: /in ams$/ })
      .getByText('Approved')
      .waitFor()
    await look(page, 'staff-decisions')
    const mail = demo
      .mailsTo('staff@demo.example')
      .find((one) => one.includes('approval') && !one.includes('shield rules'))
    assert.match(mail ?? 'no mail', /pharos approvals show <id>/)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  /** A letter of the demo team, as the server drafts it. */
  async function uploadLetter(): Promise<void> {
    const guest = createClient({ baseUrl: demo.url })
    const { body } = await guest(createSessionTokenRoute, {
      body: { email: 'demo@demo.example', password: demoPassword },
    })
    const call = createClient({ baseUrl: demo.url, credential: () => ({ bearer: body.access }) })
    const found = await call(listAnnouncementsRoute, { query: { cidr: ['3fff:100::/32'], limit: 1 } })
    const params = { announcement_id: found.body.results[0]!.id }
    const draft = await call(draftLetterRoute, { params })
    await call(uploadLetterRoute, { params, form: { file: draft.body as Blob, filename: 'letter.pdf' } })
  }

  /** Needs the approval of staff. */
  async function dropAll(prefix: string): Promise<void> {
    const { body } = await createClient({ baseUrl: demo.url })(createSessionTokenRoute, {
      body: { email: 'demo@demo.example', password: demoPassword },
    })
    const call = createClient({ baseUrl: demo.url, credential: () => ({ bearer: body.access }) })
    await call(updateShieldRulesRoute, { body: { prefix, rules: [{ action: 'deny' }], force: true } })
  }

  async function look(page: Page, name: string): Promise<void> {
    await settled(page)
    await shoot(page, name)
    assert.deepEqual(await axeViolations(page), [])
    await page.setViewportSize({ width: 360, height: 740 })
    await shoot(page, `${name}-360`)
    await assertFits(page, name, 360)
    await page.setViewportSize({ width: 1280, height: 800 })
  }
})
