// Pages that stay open: what a person has open keeps its row while others come, nothing old is shown as new, and times go on.
// The answers are those of the server, changed on their way to the page; the clock of the page is moved.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { listRelatedEventsRoute } from '@pharos/contract/analysis'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { openBrowser, openPerson, settled, skipWithoutBrowser } from './browser.ts'
import { Demo } from './demo.ts'
import { asUser } from './sample-data.ts'

/** Longer than every interval of polling. */
const poll = 61_000

type Row = { readonly id: number; readonly cidr: string }
type Rows = { readonly results: readonly Row[]; readonly count: number }

describe('a page that stays open', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo()
  let browser: Browser
  before(async () => {
    ;[browser] = await Promise.all([openBrowser(), demo.start()])
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  async function open(email: string) {
    const { context, page } = await openPerson(browser, demo.url, email)
    await page.clock.install()
    const close = async () => {
      // A poll may be on its way.
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
    }
    return { context, page, close }
  }

  /** Changes the answers to the requests of an address. Every page of a list is made from its first one. */
  const change = <Answer>(page: Page, address: RegExp, changed: (answer: Answer, url: URL) => unknown) =>
    page.route(address, async (route) => {
      const response = await route.fetch({
        url: route
          .request()
          .url()
          .replace(/offset=\d+/, 'offset=0'),
      })
      const json = changed((await response.json()) as Answer, new URL(route.request().url()))
      await route.fulfill({ response, json })
    })

  const refuse = (page: Page, address: RegExp) =>
    page.route(address, (route) =>
      route.fulfill({
        status: 429,
        contentType: 'application/problem+json',
        json: { code: 'rate_limited', title: 'Too many requests', status: 429, detail: '', request_id: 'r1' },
      }),
    )

  /** Answers the list of announcements with so many rows, named by `cidrOf`. */
  const announcements = /\/v3\/ipam\/announcements\?/
  const rowsOf = (page: Page, ids: () => readonly number[], cidrOf: (id: number) => string) =>
    change<Rows>(page, announcements, ({ results }, { searchParams }) => {
      const [offset, limit] = ['offset', 'limit'].map((name) => Number(searchParams.get(name)))
      const all = ids().map((id) => ({ ...results[0]!, id, cidr: cidrOf(id) }))
      return { results: all.slice(offset, offset! + limit!), count: all.length }
    })
  const rowAt = (page: Page, index: number) => page.locator(`tr[aria-rowindex="${index + 2}"]`)
  const upTo = (count: number, first = 1) => Array.from({ length: count }, (_, at) => first + at)

  /** Switches the team of staff in another tab, which switches it in all. */
  async function switchTeam(context: BrowserContext): Promise<void> {
    const page = await context.newPage()
    await page.goto(`${demo.url}/staff/customers`)
    await page.getByText('Other Networks', { exact: true }).first().click()
    await page.locator('[data-panel]').getByRole('button', { name: 'Open as this team' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Open as this team' }).click()
  }

  it('keeps the dialog of a row when an update moves the row', async () => {
    const { page, close } = await open('staff@demo.example')
    let isMoved = false
    await change<Rows>(page, /\/v3\/admin\/teams\/\d+\/announcements\?/, ({ results, count }) =>
      isMoved
        ? { results: [{ ...results[0]!, id: 9_999, cidr: '192.0.2.0/25' }, ...results], count: count + 1 }
        : { results, count },
    )
    await page.goto(`${demo.url}/staff/customers`)
    await page.getByRole('row').filter({ hasText: 'Demo Networks' }).click()
    await page.locator('[data-panel]').getByRole('link', { name: 'Open page' }).click()
    await page.getByRole('button', { name: 'Suspend 203.0.113.0/24' }).click()
    const dialog = page.getByRole('dialog', { name: 'Suspend 203.0.113.0/24?' })
    await dialog.getByLabel('Reason').fill('Reported as hijacked.')
    isMoved = true
    await page.clock.fastForward(poll)
    await page.locator('tr').filter({ hasText: '192.0.2.0/25' }).waitFor()
    assert.equal(await page.getByRole('dialog').count(), 1)
    assert.equal(await dialog.getByLabel('Reason').inputValue(), 'Reported as hijacked.')
    await close()
  })

  it('keeps the focus on its row, and gives it to the next one if the row is removed', async () => {
    const { page, close } = await open('demo@demo.example')
    let ids = upTo(10)
    await rowsOf(
      page,
      () => ids,
      (id) => `10.0.${id}.0/24`,
    )
    await page.goto(`${demo.url}/announcements`)
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
    await close()
  })

  it('selects the rows between two also if an update has moved them', async () => {
    const { page, close } = await open('demo@demo.example')
    let ids = upTo(10)
    await rowsOf(
      page,
      () => ids,
      (id) => `10.0.${id}.0/24`,
    )
    await page.goto(`${demo.url}/announcements`)
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
    await close()
  })

  it('selects all rows of the filters only, and shows why it could not', async () => {
    const { page, close } = await open('demo@demo.example')
    let name = 0
    await rowsOf(
      page,
      () => upTo(150),
      (id) => `10.${name}.${id}.0/24`,
    )
    await page.goto(`${demo.url}/announcements`)
    const all = /announcements\?.*limit=1000/
    const bar = page.getByRole('region', { name: 'Selected rows' })
    await page.getByRole('checkbox', { name: 'Select row' }).first().click()
    await page.route(all, (route) => route.fulfill({ status: 403, json: { code: 'forbidden', status: 403 } }))
    await bar.getByRole('button', { name: 'Select all 150' }).click()
    await page.getByText('You do not have access').waitFor()
    await page.unroute(all)
    const held = Promise.withResolvers<void>()
    await page.route(all, async (route) => {
      await held.promise
      // The page may have cancelled it.
      await route.fallback().catch(() => {})
    })
    await bar.getByRole('button', { name: 'Select all 150' }).click()
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Status' }).click()
    await page.getByRole('checkbox', { name: 'Announced', exact: true }).check()
    await page.waitForURL(/status=announced/)
    await bar.waitFor({ state: 'detached' })
    held.resolve()
    for (name of [1, 2]) {
      await page.getByRole('button', { name: 'Refresh' }).click()
      await rowAt(page, 0).getByText(`10.${name}.1.0/24`).waitFor()
    }
    assert.equal(await bar.count(), 0)
    await close()
  })

  it('dims the rows of the filters before until those of the new filters are loaded', async () => {
    const { page, close } = await open('demo@demo.example')
    await page.goto(`${demo.url}/announcements`)
    await rowAt(page, 0).waitFor()
    await settled(page)
    const held = Promise.withResolvers<void>()
    await page.route(/announcements\?.*status=announced/, async (route) => {
      await held.promise
      await route.continue()
    })
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Status' }).click()
    await page.getByRole('checkbox', { name: 'Announced', exact: true }).check()
    await page.waitForURL(/status=announced/)
    await page.locator('[data-list][aria-busy=true]').waitFor()
    held.resolve()
    await page.locator('[data-list]:not([aria-busy])').waitFor()
    await close()
  })

  it('shows no row of another team', async () => {
    const { context, page, close } = await open('staff@demo.example')
    await page.goto(`${demo.url}/announcements`)
    await page.getByRole('row').filter({ hasText: '203.0.113.0/24' }).locator('td').nth(2).click()
    await page.getByRole('complementary', { name: '203.0.113.0/24' }).waitFor()
    // The rows of the next team are never answered.
    await page.route(announcements, () => {})
    await switchTeam(context)
    await page.getByText('You are working in Other Networks').waitFor()
    await page.locator('tr[aria-busy=true]').first().waitFor()
    await page.locator('[data-panel]').waitFor()
    assert.equal(await page.getByText('203.0.113.0/24').count(), 0)
    await close()
  })

  it('exports no row of another team', async () => {
    const { context, page, close } = await open('staff@demo.example')
    await rowsOf(page, () => upTo(1_500), String)
    await page.goto(`${demo.url}/announcements`)
    await rowAt(page, 0).waitFor()
    const held = Promise.withResolvers<void>()
    await page.route(/announcements\?.*limit=1000&offset=1000/, async (route) => {
      await held.promise
      await route.fallback()
    })
    const files: string[] = []
    page.on('download', (download) => files.push(download.suggestedFilename()))
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    await page.getByRole('menuitem', { name: 'CSV' }).click()
    await page.getByText('1,000 of 1,500 exported').waitFor()
    await switchTeam(context)
    await page.getByText('You are working in Other Networks').waitFor()
    held.resolve()
    await page.getByRole('alert').filter({ hasText: 'Something went wrong' }).waitFor()
    assert.deepEqual(files, [])
    await close()
  })

  it('updates the rows in view after the first hundred, and shows since when it could not', async () => {
    const { page, close } = await open('demo@demo.example')
    let name = 0
    await rowsOf(
      page,
      () => upTo(150),
      (id) => `10.${name}.${id}.0/24`,
    )
    await page.goto(`${demo.url}/announcements`)
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
    for (const refused of [/announcements\?.*offset=0/, /announcements\?.*offset=100/]) {
      await refuse(page, refused)
      await page.clock.fastForward(poll)
      await alert.waitFor()
      await page.unroute(refused)
      // The stream may be first.
      await alert
        .getByRole('button', { name: 'Retry' })
        .click({ timeout: 5_000 })
        .catch(() => {})
      await alert.waitFor({ state: 'detached' })
    }
    await close()
  })

  it('shows that an empty list could not be updated', async () => {
    const { page, close } = await open('demo@demo.example')
    await rowsOf(page, () => [], String)
    await page.goto(`${demo.url}/announcements`)
    await page.getByText('0 announcements').waitFor()
    await refuse(page, announcements)
    await page.clock.fastForward(poll)
    await page.getByRole('alert').filter({ hasText: 'Not updated since' }).waitFor()
    await close()
  })

  it('goes to the last page of record sets if the page in the address has become empty', async () => {
    const { page, close } = await open('demo@demo.example')
    await page.goto(`${demo.url}/zones`)
    await page.locator('[data-list] tbody a').first().click()
    await page.locator('[data-records]').waitFor()
    await change<Rows>(page, /\/recordsets\?/, ({ results }, { searchParams }) => ({
      results: searchParams.get('offset') === '200' ? [] : results,
      count: 200,
    }))
    await page.goto(`${page.url().split('?')[0]}?from=200`)
    await page.waitForURL(/\?from=100$/)
    await page.locator('[data-records]').waitFor()
    await close()
  })

  it('counts the time on although no answer changes', async () => {
    const { page, close } = await open('demo@demo.example')
    await page.goto(demo.url)
    await page.getByText(/routers compared .* ago/).waitFor()
    await settled(page)
    await page.route(/\/v3\//, () => {})
    await page.clock.fastForward('02:30:00')
    await page.getByText('routers compared 2 hours ago').waitFor()
    await close()
  })

  it('counts the duration of an attack on although no answer changes', async () => {
    const { page, close } = await open('demo@demo.example')
    const running = { start: new Date().toISOString(), end: null }
    const call = await asUser(demo.url, 'demo@demo.example')
    const [event] = (await call(listRelatedEventsRoute, { query: { limit: 1 } })).body.results
    await change<Rows>(page, /events\/related\?.*limit=100(&|$)/, ({ results, count }, { searchParams }) =>
      searchParams.get('ongoing') === 'true' && searchParams.get('ordering') === '-affected_bps'
        ? { results: [{ ...event, ...running }], count: 1 }
        : { results, count },
    )
    await page.goto(`${demo.url}/events`)
    const section = page.getByRole('region', { name: /ongoing/i })
    await section.waitFor()
    await settled(page)
    await page.route(/\/v3\//, () => {})
    await page.clock.fastForward('02:30:00')
    await section.getByText(/^2 h 30 min/).waitFor()
    await close()
  })

  it('shows that the groups of the devices could not be loaded, and ignores no filter', async () => {
    const { page, close } = await open('demo@demo.example')
    const groups = /\/devices\/groups/
    await refuse(page, groups)
    await page.goto(`${demo.url}/devices?status=offline`)
    const alert = page.getByRole('alert').filter({ hasText: 'Too many requests' })
    await alert.waitFor()
    assert.equal(await page.getByText('Ignored in the address').count(), 0)
    const retry = alert.getByRole('button', { name: 'Retry' })
    assert.equal(await retry.count(), 1)
    await page.unroute(groups)
    // The poll may be first.
    await retry.click({ timeout: 5_000 }).catch(() => {})
    await page.getByRole('button', { name: /^Status: / }).waitFor()
    await close()
  })

  it('updates the counts beside the devices with the list', async () => {
    const { page, close } = await open('demo@demo.example')
    // The stream updates everything when it connects.
    await page.route(/\/v3\/stream/, () => {})
    let count = 7
    type Groups = { readonly results: readonly { readonly values: readonly object[] }[] }
    await change<Groups>(page, /\/devices\/groups/, ({ results }) => ({
      results: results.map((group) => ({
        ...group,
        values: group.values.map((one) => ({ ...one, count })),
      })),
    }))
    await page.goto(`${demo.url}/devices`)
    const groups = page.getByRole('group', { name: 'Filter devices' })
    await groups.getByText('7', { exact: true }).first().waitFor()
    count = 8
    await page.clock.fastForward(poll)
    await groups.getByText('8', { exact: true }).first().waitFor()
    await close()
  })
})
