// Pages that stay open: an open row stays in place while others arrive, old data is marked as old, and times advance.
// The answers come from the example server; the clock of the page is moved.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { getCustomerRoute, listCustomersRoute } from '@pharos/contract/operator/team'
import { listIncidentsRoute } from '@pharos/contract/events/incident'
import {
  listAnnouncementsOfTeamRoute,
  listAnnouncementsRoute,
  listRegionsRoute,
} from '@pharos/contract/byoip/announcement'
import { groupDevicesRoute } from '@pharos/contract/inventory/device'
import { listRecordSetsRoute } from '@pharos/contract/dns/recordset'
import type { BrowserContext, Page } from 'playwright-core'
import { settled, skipWithoutBrowser } from './browser.ts'
import { enterTeam } from './enter-team.ts'
import { admin, exampleOf, otherTeam, pageOf, staff } from './example-server.ts'
import { useExample } from './example-suite.ts'
import { held, intercept, refused } from './intercept.ts'

/** Longer than every interval of polling. */
const poll = 61_000

describe('a page that stays open', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  async function open(user = admin) {
    example.server.reset()
    example.server.user = user
    const person = await example.open()
    await person.page.clock.install()
    return person
  }

  const announcements = /\/v3\/ipam\/announcements\?/
  const refuse = (page: Page, address: RegExp) =>
    intercept(page, address, refused(429, 'rate_limited', { title: 'Too many requests' }))

  const announcement = exampleOf(listAnnouncementsRoute).results[0]!
  /** Answers the list of announcements with so many rows, named by `cidrOf`. */
  const listRows = (ids: () => readonly number[], cidrOf: (id: number) => string) =>
    example.server.answer(listAnnouncementsRoute, (asked) =>
      pageOf(
        ids().map((id) => ({ ...announcement, id, cidr: cidrOf(id) })),
        asked,
      ),
    )
  const rowAt = (page: Page, index: number) => page.locator(`tr[aria-rowindex="${index + 2}"]`)
  const upTo = (count: number, first = 1) => Array.from({ length: count }, (_, at) => first + at)

  /** Switches the team of staff in another tab, which switches it in all. */
  async function switchTeam(context: BrowserContext): Promise<void> {
    const { results } = exampleOf(listCustomersRoute)
    example.server.answer(listCustomersRoute, (asked) =>
      pageOf([...results, { ...results[0]!, ...otherTeam }], asked),
    )
    example.server.answer(getCustomerRoute, () => ({ ...exampleOf(getCustomerRoute), ...otherTeam }))
    const page = await context.newPage()
    await page.goto(`${example.server.url}/staff/customers`)
    await page.getByText('Other Networks', { exact: true }).first().click()
    await enterTeam(page, { within: page.locator('[data-panel]') })
  }

  it('keeps the dialog of a row when an update moves the row', async () => {
    await using person = await open(staff)
    const { page } = person
    const rows = [...exampleOf(listAnnouncementsOfTeamRoute).results]
    example.server.answer(listAnnouncementsOfTeamRoute, (asked) => pageOf(rows, asked))
    await page.goto(`${example.server.url}/staff/customers`)
    await page.getByRole('row').filter({ hasText: 'Lindholm Hosting' }).click()
    await page.locator('[data-panel]').getByRole('link', { name: 'Open page' }).click()
    await page.getByRole('button', { name: 'Suspend 203.0.113.0/24' }).click()
    const dialog = page.getByRole('dialog', { name: 'Suspend 203.0.113.0/24?' })
    await dialog.getByLabel('Reason').fill('Reported as hijacked.')
    rows.unshift({ ...rows[0]!, id: 9_999, cidr: '192.0.2.0/25' })
    await page.clock.fastForward(poll)
    await page.locator('tr').filter({ hasText: '192.0.2.0/25' }).waitFor()
    assert.equal(await page.getByRole('dialog').count(), 1)
    assert.equal(await dialog.getByLabel('Reason').inputValue(), 'Reported as hijacked.')
  })

  it('keeps the focus on its row, and gives it to the next one if the row is removed', async () => {
    await using person = await open()
    const { page } = person
    let ids = upTo(10)
    listRows(
      () => ids,
      (id) => `10.0.${id}.0/24`,
    )
    await page.goto(`${example.server.url}/announcements`)
    await rowAt(page, 9).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.locator('tr:focus').getByText('10.0.2.0/24').waitFor()
    ids = [50, ...upTo(10)]
    await page.clock.fastForward(poll)
    await rowAt(page, 0).getByText('10.0.50.0/24').waitFor()
    assert.match(await page.locator('tr:focus').innerText(), /10\.0\.2\.0\/24/)
    ids = [50, 1, ...upTo(8, 3)]
    await page.clock.fastForward(poll)
    await page.locator('tr:focus').getByText('10.0.3.0/24').waitFor()
    await page.keyboard.press('k')
    await page.locator('tr:focus').getByText('10.0.1.0/24').waitFor()
  })

  it('selects the rows between two also if an update has moved them', async () => {
    await using person = await open()
    const { page } = person
    let ids = upTo(10)
    listRows(
      () => ids,
      (id) => `10.0.${id}.0/24`,
    )
    await page.goto(`${example.server.url}/announcements`)
    const box = (id: number) =>
      page
        .locator('tr')
        .filter({ hasText: `10.0.${id}.0/24` })
        .getByRole('checkbox', { name: 'Select row' })
    await box(2).click()
    ids = [50, 51, ...upTo(10)]
    await page.clock.fastForward(poll)
    await box(51).waitFor()
    await box(4).click({ modifiers: ['Shift'] })
    await page.getByText('3 selected').waitFor()
    for (const id of [2, 3, 4]) assert.ok(await box(id).isChecked())
  })

  it('selects all rows of the filters only, and shows why it could not', async () => {
    await using person = await open()
    const { page } = person
    let name = 0
    listRows(
      () => upTo(150),
      (id) => `10.${name}.${id}.0/24`,
    )
    await page.goto(`${example.server.url}/announcements`)
    const all = /announcements\?.*limit=1000/
    const bar = page.getByRole('region', { name: 'Selected rows' })
    await page.getByRole('checkbox', { name: 'Select row' }).first().click()
    const refusal = await intercept(page, all, refused(403, 'forbidden'))
    await bar.getByRole('button', { name: 'Select all 150' }).click()
    await page.getByText('You do not have access').waitFor()
    await refusal.stop()
    await using selection = await intercept(page, all, held)
    await bar.getByRole('button', { name: 'Select all 150' }).click()
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Status' }).click()
    await page.getByRole('checkbox', { name: 'Announced', exact: true }).check()
    await page.waitForURL(/status=announced/)
    await bar.waitFor({ state: 'detached' })
    selection.release()
    for (name of [1, 2]) {
      await page.getByRole('button', { name: 'Refresh' }).click()
      await rowAt(page, 0).getByText(`10.${name}.1.0/24`).waitFor()
    }
    assert.equal(await bar.count(), 0)
  })

  it('dims the rows of the filters before until those of the new filters are loaded', async () => {
    await using person = await open()
    const { page } = person
    await page.goto(`${example.server.url}/announcements`)
    await rowAt(page, 0).waitFor()
    await settled(page)
    await using filtered = await intercept(page, /announcements\?.*status=announced/, held)
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Status' }).click()
    await page.getByRole('checkbox', { name: 'Announced', exact: true }).check()
    await page.waitForURL(/status=announced/)
    await page.locator('[data-list][aria-busy=true]').waitFor()
    filtered.release()
    await page.locator('[data-list]:not([aria-busy])').waitFor()
  })

  it('shows no row of another team', async () => {
    await using person = await open(staff)
    const { context, page } = person
    await page.goto(`${example.server.url}/announcements`)
    await page.getByRole('row').filter({ hasText: '203.0.113.0/24' }).locator('td').nth(2).click()
    await page.getByRole('complementary', { name: '203.0.113.0/24' }).waitFor()
    // The rows of the next team are never answered.
    await using _ = await intercept(page, announcements, held)
    await switchTeam(context)
    await page.getByText('You are in Other Networks').waitFor()
    await page.locator('tr[aria-busy=true]').first().waitFor()
    await page.locator('[data-panel]').waitFor()
    assert.equal(await page.getByText('203.0.113.0/24').count(), 0)
  })

  it('exports no row of another team', async () => {
    await using person = await open(staff)
    const { context, page } = person
    listRows(() => upTo(1_500), String)
    await page.goto(`${example.server.url}/announcements`)
    await rowAt(page, 0).waitFor()
    await using second = await intercept(page, /announcements\?.*limit=1000&offset=1000/, held)
    const files: string[] = []
    page.on('download', (download) => files.push(download.suggestedFilename()))
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    await page.getByRole('menuitem', { name: 'CSV' }).click()
    await page.getByText('1,000 of 1,500 exported').waitFor()
    await switchTeam(context)
    await page.getByText('You are in Other Networks').waitFor()
    second.release()
    await page.getByRole('alert').filter({ hasText: 'Something went wrong' }).waitFor()
    assert.deepEqual(files, [])
  })

  it('updates the rows in view after the first hundred, and shows since when it could not', async () => {
    await using person = await open()
    const { page } = person
    let name = 0
    listRows(
      () => upTo(150),
      (id) => `10.${name}.${id}.0/24`,
    )
    await page.goto(`${example.server.url}/announcements`)
    await rowAt(page, 0).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('End')
    await rowAt(page, 149).getByText('10.0.150.0/24').waitFor()
    name = 1
    await page.clock.fastForward(poll)
    await rowAt(page, 149).getByText('10.1.150.0/24').waitFor()
    name = 2
    await page.getByRole('button', { name: 'Refresh' }).click()
    await rowAt(page, 149).getByText('10.2.150.0/24').waitFor()
    const alert = page.getByRole('alert').filter({ hasText: 'Not updated since' })
    for (const address of [/announcements\?.*offset=0/, /announcements\?.*offset=100/]) {
      const refusal = await refuse(page, address)
      await page.clock.fastForward(poll)
      await alert.waitFor()
      await refusal.stop()
      await alert.getByRole('button', { name: 'Retry' }).click()
      await alert.waitFor({ state: 'detached' })
    }
  })

  it('shows that an empty list could not be updated', async () => {
    await using person = await open()
    const { page } = person
    listRows(() => [], String)
    await page.goto(`${example.server.url}/announcements`)
    await page.getByText('0 announcements').waitFor()
    await using _ = await refuse(page, announcements)
    await page.clock.fastForward(poll)
    await page.getByRole('alert').filter({ hasText: 'Not updated since' }).waitFor()
  })

  it('goes to the last page of record sets if the page in the address has become empty', async () => {
    await using person = await open()
    const { page } = person
    await page.goto(`${example.server.url}/zones`)
    await page.locator('[data-list] tbody a').first().click()
    await page.locator('[data-records]').waitFor()
    example.server.answer(listRecordSetsRoute, ({ query }) => ({
      results: query.get('offset') === '200' ? [] : exampleOf(listRecordSetsRoute).results,
      count: 200,
    }))
    await page.goto(`${page.url().split('?')[0]}?from=200`)
    await page.waitForURL(/\?from=100$/)
    await page.locator('[data-records]').waitFor()
  })

  it('counts the time on although no answer changes', async () => {
    await using person = await open()
    const { page } = person
    const { results, count } = exampleOf(listRegionsRoute)
    const compared = new Date().toISOString()
    example.server.answer(listRegionsRoute, () => ({
      results: results.map((region) => ({ ...region, last_check: compared })),
      count,
    }))
    await page.goto(example.server.url)
    const times = page.getByRole('table', { name: 'Regions' }).locator('time')
    await times.first().waitFor()
    await settled(page)
    await using _ = await intercept(page, /\/v3\//, held)
    await page.clock.fastForward('02:30:00')
    await times.filter({ hasText: '2 hours ago' }).first().waitFor()
  })

  it('counts the duration of an attack on although no answer changes', async () => {
    await using person = await open()
    const { page } = person
    const running = { start: new Date().toISOString(), end: null }
    const { results } = exampleOf(listIncidentsRoute)
    example.server.answer(listIncidentsRoute, (asked) =>
      pageOf(asked.query.get('ongoing') === 'true' ? [{ ...results[0]!, ...running }] : results, asked),
    )
    await page.goto(`${example.server.url}/events`)
    const section = page.getByRole('region', { name: /ongoing/i })
    await section.waitFor()
    await settled(page)
    await using _ = await intercept(page, /\/v3\//, held)
    await page.clock.fastForward('02:30:00')
    await section.getByText(/^2 h 30 min/).waitFor()
  })

  it('shows that the groups of the devices could not be loaded, and ignores no filter', async () => {
    await using person = await open()
    const { page } = person
    const groups = /\/devices\/groups/
    const refusal = await refuse(page, groups)
    await page.goto(`${example.server.url}/devices?status=offline`)
    const alert = page.getByRole('alert').filter({ hasText: 'Too many requests' })
    await alert.waitFor()
    assert.equal(await page.getByText('Ignored in the address').count(), 0)
    const retry = alert.getByRole('button', { name: 'Retry' })
    assert.equal(await retry.count(), 1)
    await refusal.stop()
    const groupsShown = page.getByRole('button', { name: /^Status: / }).waitFor()
    // On a busy machine the page has asked again before it is clicked.
    await Promise.race([retry.click(), groupsShown])
    await groupsShown
  })

  it('updates the counts beside the devices with the list', async () => {
    await using person = await open()
    const { page } = person
    let count = 7
    const { results } = exampleOf(groupDevicesRoute)
    example.server.answer(groupDevicesRoute, () => ({
      results: results.map((group) => ({ ...group, values: group.values.map((one) => ({ ...one, count })) })),
      count: results.length,
    }))
    await page.goto(`${example.server.url}/devices`)
    const groups = page.getByRole('group', { name: 'Filter devices' })
    await groups.getByText('7', { exact: true }).first().waitFor()
    count = 8
    await page.clock.fastForward(poll)
    await groups.getByText('8', { exact: true }).first().waitFor()
  })
})
