// Pages of staff in the portal: decisions about paused changes, regions and routers, detectors that fail.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { assertFits, axeViolations } from './accessibility.ts'
import { openBrowser, openPerson, settled, shoot, skipWithoutBrowser } from './browser.ts'
import { Demo } from './demo.ts'

describe('the portal for staff', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo()
  let browser: Browser
  before(async () => {
    ;[browser] = await Promise.all([openBrowser(), demo.start()])
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  it('shows routers with their sessions, and why the only router of a region is not drained', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    await page.getByRole('link', { name: 'Regions', exact: true }).click()
    const ams = page.getByRole('region', { name: 'Region ams' })
    await ams.getByText('OK', { exact: true }).waitFor()
    await ams.getByText(/AS\d+: established \(IPv4, IPv6\)/).waitFor()
    await ams.getByRole('button', { name: 'Drain ams in ams' }).click()
    const dialog = page.getByRole('dialog', { name: 'Drain ams in ams' })
    await dialog.getByText('Nothing is withdrawn from the other routers.').waitFor()
    await dialog.getByRole('button', { name: 'Drain' }).click()
    await dialog.getByText('Router ams is the only one of region ams that is not drained').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await look(page, 'staff-regions')
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
    await page.getByRole('link', { name: 'Detectors', exact: true }).click()
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

  it('shows whose changes are paused and who asked, and applies the decision', async () => {
    await demo.disableUnasked()
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'staff@demo.example')
    const banner = page.getByRole('status').filter({ hasText: /^Changes in \d regions? needs? approval/ })
    await banner.getByRole('link', { name: 'Review paused changes' }).click()
    const ams = holdIn(page, 'ams')
    await ams.getByRole('cell', { name: '203.0.113.0/24' }).waitFor()
    await ams.getByText('No request found').first().waitFor()
    await ams.getByRole('cell', { name: 'Demo' }).first().waitFor()
    await look(page, 'staff-holds')
    await ams.getByRole('button', { name: 'Reject' }).click()
    const refusal = page.getByRole('dialog', { name: 'Reject changes in ams' })
    await refusal.getByText(/stay announced as they are for 24 hours/).waitFor()
    await refusal.getByRole('button', { name: 'Reject' }).click()
    await ams.waitFor({ state: 'detached' })
    const fra = holdIn(page, 'fra')
    await fra.getByRole('button', { name: 'Approve' }).click()
    const approval = page.getByRole('dialog', { name: 'Approve changes in fra' })
    await approval.getByText(/Withdraws \d+ prefix(es)? from all routers in fra/).waitFor()
    await approval.getByText(/valid for 15 minutes/).waitFor()
    await approval.getByRole('button', { name: 'Approve' }).click()
    await fra.waitFor({ state: 'detached' })
    const mail = demo.mailsTo('staff@demo.example').find((one) => one.includes('approval'))
    assert.match(mail ?? 'no mail', /pharos holds show \d+/)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  const holdIn = (page: Page, region: string): Locator =>
    page.getByRole('region', { name: /^Hold \d+$/ }).filter({ has: page.getByText(region, { exact: true }) })

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
