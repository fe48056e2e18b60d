// A list that is longer than any screen, and use of the portal by keyboard, in a real browser.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Browser, BrowserContext, Download, Page, Route } from 'playwright-core'
import { openBrowser, settled, signIn, skipWithoutBrowser, waitMs, watch } from './browser.ts'
import { Demo } from './demo.ts'

const alarms = 3_000
const atOnce = 500

describe('a long list', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo()
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let pageErrors: string[]
  before(async () => {
    ;[browser] = await Promise.all([openBrowser(), demo.start()])
    for (let from = 0; from < alarms; from += atOnce) await postAlarms(from)
    context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(waitMs)
    pageErrors = watch(context, demo.url)
    page = await context.newPage()
    await signIn(page, demo.url, 'demo@demo.example')
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  /** Past events of this team, one per minute. */
  async function postAlarms(from: number): Promise<void> {
    const alarm = Array.from({ length: atOnce }, (_, at) => {
      const opened = Date.parse('2025-01-01T00:00:00Z') / 1000 + (from + at) * 60
      return {
        id: `LIST-${from + at}`,
        state: 'closed',
        kind: 'SYN flood',
        direction: 'in',
        target: `203.0.113.${(from + at) % 250}`,
        opened,
        closed: opened + 30,
        rate: { mbps: 1 + from + at, kpps: 10 },
        summary: `made for the list, number ${from + at}`,
      }
    })
    await demo.post('/v3/ingest/events/flow-alarms', { alarm }, 'Token demo-flow-secret')
  }

  const ours = '/events?search=made+for+the+list&ordering=start'
  const counted = () => page.getByText(`${alarms.toLocaleString('en')} events`)

  async function openList(path = ours): Promise<void> {
    for (const end = performance.now() + 60_000; ;) {
      await page.goto(demo.url + path)
      await settled(page)
      if (path !== ours || (await counted().isVisible())) return
      // The deliveries are still being processed.
      assert.ok(performance.now() < end, 'the alarms do not arrive')
    }
  }

  it('keeps the page small, and reaches its last row', async () => {
    await openList()
    await page.keyboard.press('j')
    await page.locator('tr[aria-rowindex="2"]:focus').waitFor()
    await page.keyboard.press('End')
    const last = page.locator(`tr[aria-rowindex="${alarms + 1}"]:focus`)
    await last.getByText(`number ${alarms - 1}`).waitFor()
    const elements = await page.locator('*').count()
    assert.ok(elements < 2_500, `the page has ${elements} elements`)
    assert.ok((await page.locator('[data-list] tr').count()) < 150)
    await page.keyboard.press('Home')
    await page
      .locator('tr[aria-rowindex="2"]:focus')
      .getByText(/number 0$/)
      .waitFor()
  })

  it('is ordered by the server, with the order in the address', async () => {
    await openList()
    await page.getByRole('button', { name: 'Peak rate', exact: true }).click()
    await page.waitForURL(/ordering=affected_bps/)
    await page.getByRole('button', { name: 'Peak rate', exact: true }).click()
    await page.waitForURL(/ordering=-affected_bps/)
    const first = page.locator('tr[aria-rowindex="2"]')
    await first.getByText(`number ${alarms - 1}`).waitFor()
    await page
      .getByRole('columnheader', { name: 'Peak rate', exact: true })
      .and(page.locator('[aria-sort=descending]'))
      .waitFor()
  })

  it('shows the chosen columns, also after a reload', async () => {
    await openList()
    await page.getByRole('button', { name: 'Choose columns' }).click()
    await page.getByRole('checkbox', { name: 'Source' }).check()
    await page.getByRole('checkbox', { name: 'Peak packet rate' }).uncheck()
    await page.reload()
    await page.getByRole('columnheader', { name: 'Source' }).waitFor()
    assert.equal(await page.getByRole('columnheader', { name: 'Peak packet rate' }).count(), 0)
  })

  async function take(kind: 'CSV' | 'JSON'): Promise<Download> {
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: kind }).click(),
    ])
    return download
  }

  it('exports every row once', async () => {
    await openList()
    const json = await take('JSON')
    const rows = JSON.parse(readFileSync(await json.path(), 'utf8')) as { id: string }[]
    assert.equal(rows.length, alarms)
    assert.equal(new Set(rows.map(({ id }) => id)).size, alarms)
    const csv = readFileSync(await (await take('CSV')).path(), 'utf8')
    assert.equal(csv.trimEnd().split('\r\n').length, alarms + 1)
    assert.match(csv, /^id,/)
  })

  it('shows the progress of an export, and stops on Cancel', async () => {
    await openList()
    // The second page of rows is held until the export is cancelled.
    const held: Route[] = []
    await page.route(/limit=1000&offset=1000/, (route) => void held.push(route))
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    await page.getByRole('menuitem', { name: 'CSV' }).click()
    await page.getByText('1,000 of 3,000 exported').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Export', exact: true }).waitFor()
    await Promise.all(held.map((route) => route.abort().catch(() => {})))
    await page.unrouteAll()
    assert.equal(await page.getByRole('alert').count(), 0, 'what one stops is no problem')
  })

  it('moves the focus by keys, and opens a row', async () => {
    await openList()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('ArrowDown')
    await page.locator('tr[aria-rowindex="3"]:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/events\/[^?]+$/)
    await page.locator('h1:focus').waitFor()
    assert.match(await page.title(), /^203\.0\.113\.1\/32 · Pharos$/)
  })

  it('opens pages by keyboard shortcuts, and moves the focus to their title', async () => {
    const places = {
      o: 'Overview',
      a: 'Announcements',
      n: 'ASNs',
      e: 'Security events',
      t: 'Demo Networks',
      p: 'Profile',
    }
    for (const [key, name] of Object.entries(places)) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.locator('h1:focus', { hasText: name }).waitFor()
      assert.equal(await page.title(), `${name} · Pharos`)
    }
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Search this page').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('opens pages from the palette', async () => {
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByPlaceholder('Search or jump to…').fill('tokens')
    await page.getByRole('dialog').getByText('Team: API tokens').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/team\/tokens$/)
    await page.getByRole('tab', { name: 'API tokens', selected: true }).waitFor()
    assert.deepEqual(pageErrors, [])
  })

  it('has no animations if the user prefers reduced motion', async () => {
    const still = await browser.newContext({
      reducedMotion: 'reduce',
      storageState: await context.storageState(),
    })
    const other = await still.newPage()
    await signIn(other, demo.url, 'demo@demo.example')
    await settled(other)
    await other.keyboard.press('?')
    await other.getByRole('dialog').waitFor()
    const moving = await other.evaluate(() =>
      document
        .getAnimations()
        .filter(({ effect }) => Number(effect?.getComputedTiming().duration) > 1)
        .map(({ effect }) => (effect as KeyframeEffect).target?.className),
    )
    assert.deepEqual(moving, [])
    await still.close()
  })

  for (const place of ['/', '/events', '/announcements', '/team/webhooks', '/team/audit', '/profile'])
    it(`fits ${place} at twice the font size`, async () => {
      await page.setViewportSize({ width: 640, height: 400 })
      await openList(place)
      const width = await page.evaluate(() => document.documentElement.scrollWidth)
      await page.setViewportSize({ width: 1280, height: 800 })
      assert.ok(width <= 640, `${place} is ${width} wide`)
    })
})
