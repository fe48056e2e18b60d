// A list that is longer than any screen, and use of the portal by keyboard, in a browser. The rows come from the example server.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { getRelatedEventRoute } from '@pharos/contract/events/event'
import { listIncidentsRoute } from '@pharos/contract/events/incident'
import { listPortsRoute } from '@pharos/contract/inventory/port'
import type { Browser, Download, Page } from 'playwright-core'
import { openBrowser, openExample, settled, skipWithoutBrowser, type Person } from './browser.ts'
import {
  exampleOf,
  pageOf,
  Refusal,
  startExampleServer,
  type Asked,
  type ExampleServer,
} from './example-server.ts'
import { held, intercept, refused } from './intercept.ts'
import { keepViews } from './kept-views.ts'

const alarms = 3_000
const targetOf = (number: number) => `203.0.113.${number % 250}`

const event = exampleOf(getRelatedEventRoute)
/** Past events, one per minute. */
const rows = Array.from({ length: alarms }, (_, number) => {
  const opened = Date.parse('2025-01-01T00:00:00Z') + number * 60_000
  return {
    ...exampleOf(listIncidentsRoute).results[0]!,
    id: `list${number}`,
    network: `${targetOf(number)}/32`,
    start: new Date(opened).toISOString(),
    end: new Date(opened + 30_000).toISOString(),
    affected_bps: (1 + number) * 1_000_000,
    status: ['EVENT_ENDED' as const],
  }
})

/** As the API filters and orders, as far as these tests ask for it. */
function listRows(asked: Asked): { results: typeof rows; count: number } {
  const { query } = asked
  if (query.get('affected_network')?.endsWith('.7/24'))
    throw new Refusal(422, 'validation_failed', {
      errors: [
        {
          loc: ['query', 'affected_network'],
          msg: 'host bits are set: write 203.0.113.0/24',
          type: 'value_error',
        },
      ],
    })
  if (query.get('ongoing') === 'true') return pageOf<(typeof rows)[0]>([], asked)
  const found = rows.filter((row) => row.affected_bps >= Number(query.get('min_bps') ?? 0))
  return pageOf(query.get('ordering') === 'start' ? found : found.toReversed(), asked)
}

describe('a long list', { skip: skipWithoutBrowser() }, () => {
  let browser: Browser
  let server: ExampleServer
  let person: Person
  let page: Page
  before(async () => {
    server = await startExampleServer()
    browser = await openBrowser()
    server.answer(listIncidentsRoute, listRows)
    server.answer(getRelatedEventRoute, ({ params }) => {
      const row = rows.find(({ id }) => id === params.event_id)!
      const { start, end, affected_bps } = row
      return { ...event, id: row.id, affected_network: row.network, start, end, affected_bps }
    })
    person = await openExample(browser, server.url)
    page = person.page
  })
  after(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  const ours = '/events?sort=start'

  async function openList(path = ours): Promise<void> {
    await page.goto(server.url + path)
    await settled(page)
  }

  it('keeps the page small, and reaches its last row', async () => {
    await openList()
    await page.getByText(`${alarms.toLocaleString('en')} attacks`).waitFor()
    await page.keyboard.press('j')
    await page.locator('tr[aria-rowindex="2"]:focus').waitFor()
    await page.keyboard.press('End')
    const last = page.locator(`tr[aria-rowindex="${alarms + 1}"]:focus`)
    await last.getByText(targetOf(alarms - 1), { exact: true }).waitFor()
    const elements = await page.locator('*').count()
    assert.ok(elements < 2_500, `the page has ${elements} elements`)
    assert.ok((await page.locator('[data-list] tr').count()) < 150)
    await page.keyboard.press('Home')
    await page.locator('tr[aria-rowindex="2"]:focus').getByText(targetOf(0), { exact: true }).waitFor()
  })

  it('is ordered by the server, with the order in the address', async () => {
    await openList()
    // The first click sorts by the largest.
    await page.getByRole('button', { name: 'Peak rate', exact: true }).click()
    await page.waitForURL(/sort=-affected_bps/)
    const first = page.locator('tr[aria-rowindex="2"]')
    await first.getByText(targetOf(alarms - 1), { exact: true }).waitFor()
    await page
      .getByRole('columnheader', { name: 'Peak rate', exact: true })
      .and(page.locator('[aria-sort=descending]'))
      .waitFor()
  })

  it('shows the chosen columns, also after a reload', async () => {
    await openList()
    await page.getByRole('button', { name: 'View options' }).click()
    await page.getByRole('checkbox', { name: 'Detector' }).check()
    await page.getByRole('checkbox', { name: 'Peak pps' }).uncheck()
    await page.getByRole('button', { name: 'Move Type up' }).click()
    await page.waitForURL(/columns=network,class,status,bps,start/)
    const link = page.url()
    await page.reload()
    await page.getByRole('columnheader', { name: 'Detector' }).waitFor()
    assert.equal(await page.getByRole('columnheader', { name: 'Peak pps' }).count(), 0)
    // The link opens the same view in a browser without any settings.
    const other = await openExample(browser, server.url)
    await other.page.goto(link)
    await other.page.getByRole('columnheader', { name: 'Detector' }).waitFor()
    assert.match(await other.page.getByRole('columnheader').nth(1).innerText(), /Type/)
    await other.context.close()
    await page.getByRole('button', { name: 'View options' }).click()
    await page.getByRole('button', { name: 'Reset columns' }).click()
    await page.waitForURL((url) => !url.search.includes('columns'))
    await page.getByRole('columnheader', { name: 'Peak pps' }).waitFor()
    await page.keyboard.press('Escape')
  })

  const widthOf = async (header: string) =>
    (await page.getByRole('columnheader', { name: header, exact: true }).boundingBox())!.width

  it('sizes columns by dragging and by keyboard, and keeps the first in view', async () => {
    await openList()
    const before = await widthOf('Type')
    const edge = page.getByRole('separator', { name: 'Width of Type' })
    const box = (await edge.boundingBox())!
    await page.mouse.move(box.x + 12, box.y + 10)
    await page.mouse.down()
    await page.mouse.move(box.x + 72, box.y + 10, { steps: 4 })
    await page.mouse.up()
    assert.ok(Math.abs((await widthOf('Type')) - before - 60) < 2)
    await edge.focus()
    await page.keyboard.press('ArrowLeft')
    assert.ok(Math.abs((await widthOf('Type')) - before - 44) < 2)
    await page.reload()
    await settled(page)
    assert.ok(Math.abs((await widthOf('Type')) - before - 44) < 2, 'the width is kept')
    const first = page.locator('tr[aria-rowindex="2"] td').first()
    const left = (await first.boundingBox())!.x
    await page.locator('[data-list]').evaluate((one) => one.scrollTo(400, 0))
    assert.equal((await first.boundingBox())!.x, left)
    await edge.dblclick()
    assert.ok(Math.abs((await widthOf('Type')) - before) < 2)
  })

  it('shows a cut cell as a whole under the pointer', async () => {
    await openList()
    for (let step = 0; step < 20; step++) {
      await page.getByRole('separator', { name: 'Width of Type' }).press('ArrowLeft')
    }
    await page.locator('tr[aria-rowindex="2"] td').nth(2).hover()
    await page
      .getByRole('tooltip')
      .getByText(/amplification/i)
      .waitFor()
    await page.getByRole('separator', { name: 'Width of Type' }).dblclick()
  })

  it('has filters that can be read, added and edited by keyboard', async () => {
    await openList()
    await page.getByRole('button', { name: 'Add filter' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Status' }).press('Enter')
    await page.getByRole('checkbox', { name: 'Ended', exact: true }).press('Space')
    await page.waitForURL(/status=EVENT_ENDED/)
    await page.getByRole('checkbox', { name: 'Mitigating' }).press('Space')
    await page.waitForURL(/status=EVENT_ENDED,MITIGATION_ACTIVE/)
    await page.keyboard.press('Escape')
    const chip = page.getByRole('button', { name: 'Status: Ended, Mitigating. Edit filter' })
    await chip.waitFor()
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Minimum peak rate' }).click()
    await page.getByLabel('Minimum peak rate', { exact: true }).fill('much')
    await page.keyboard.press('Enter')
    await page.getByText('Enter a rate, such as 500 Mbps').waitFor()
    await page.getByLabel('Minimum peak rate', { exact: true }).fill('2 Gbps')
    await page.keyboard.press('Enter')
    await page.waitForURL(/min_bps=2000000000/)
    await page.getByText(/^1,001 attacks$/).waitFor()
    await page.getByRole('button', { name: 'Remove filter Status' }).click()
    await page.waitForURL((url) => !url.search.includes('status'))
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.waitForURL((url) => url.search === '?sort=start')
  })

  it('saves a view, opens with the default one, and returns to all rows', async () => {
    keepViews(server)
    await page.goto(`${server.url}/events?ongoing=false&min_bps=2000000000&sort=start`)
    await page.getByRole('button', { name: 'Views', exact: true }).click()
    await page.getByRole('button', { name: 'Save this view' }).click()
    await page.getByLabel('Name of the view').fill('Large and ended')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Open this list with Large and ended' }).click()
    await page.goto(`${server.url}/events`)
    await page.waitForURL(/ongoing=false.*min_bps=2000000000/)
    await page.getByRole('button', { name: 'Large and ended' }).click()
    await page.getByRole('button', { name: 'All attacks' }).click()
    await page.waitForURL((url) => url.search === '')
    await page.getByRole('button', { name: 'Views', exact: true }).click()
    await page.getByRole('button', { name: 'Delete view Large and ended' }).click()
    await page.keyboard.press('Escape')
  })

  it('names what it does not know in an address, and shows the rest', async () => {
    await page.goto(`${server.url}/events?utm_source=mail&flag=INCOMING,RED&affected_network=203.0.113.7/24`)
    const note = page.getByRole('status').filter({ hasText: 'Ignored in the address' })
    await note.getByText(/Flags: RED/).waitFor()
    await note.getByText(/utm_source/).waitFor()
    await note.getByText(/Address or prefix: .*host bits are set/).waitFor()
    await page.getByRole('row').nth(2).waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.waitForURL((url) => url.search === '?flag=INCOMING')
    assert.equal(await note.count(), 0)
  })

  it('writes addresses that can be read, and reads those of earlier releases', async () => {
    await page.goto(`${server.url}/events?flag=%5B%22INCOMING%22%2C%22IPV6%22%5D&ordering=-start`)
    await page.getByRole('button', { name: /^Flags: Incoming, IPv6/ }).waitFor()
    await page.getByRole('button', { name: /^Time range/ }).click()
    await page.getByRole('button', { name: 'Last 30 days' }).click()
    await page.waitForURL((url) => url.search === '?flag=INCOMING,IPV6&ordering=-start&range=30d')
  })

  it('opens a panel beside the list, which the keys move and Escape closes', async () => {
    await openList()
    await page.locator('tr[aria-rowindex="2"] td').nth(2).click()
    const panel = page.locator('[data-panel]')
    await panel.getByText(targetOf(0), { exact: true }).first().waitFor()
    await page.keyboard.press('j')
    await panel.getByText(targetOf(1), { exact: true }).first().waitFor()
    await page.waitForURL(/show=\w+/)
    await page.reload()
    await panel.getByText(targetOf(1), { exact: true }).first().waitFor()
    // The panel may be loaded before the list, whose keys need its rows.
    await page.locator('tr[aria-rowindex="2"] a').first().waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await page.keyboard.press('j')
    await page.locator('tr[aria-rowindex="2"]:focus').waitFor()
    await page.keyboard.press('Space')
    await panel.getByText(targetOf(0), { exact: true }).first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/events\/\w+$/)
  })

  it('shows cards and sheets on a phone', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await openList('/announcements?status=announced')
    const row = page.locator('tr[aria-rowindex="2"]')
    assert.equal(await row.locator('td').count(), 1)
    await row.getByText('Announced').first().waitFor()
    await page.getByRole('button', { name: /^Status: Announced/ }).click()
    await page.getByRole('dialog', { name: 'Status' }).getByRole('checkbox', { name: 'Ready' }).check()
    await page.waitForURL(/status=ready,announced/)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('scrolls with the page on a phone, with only the rows around the screen', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await openList()
    const list = page.locator('[data-list]')
    assert.ok(await list.evaluate((one) => one.scrollHeight === one.clientHeight))
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight))
    await list.getByText(targetOf(alarms - 1), { exact: true }).waitFor()
    assert.ok((await list.locator('tr').count()) < 60)
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  it('has only the rows around the screen while it scrolls, and plain ones while they load', async () => {
    await openList()
    const { rows, moving } = await page.evaluate(async () => {
      const list = document.querySelector('[data-list]')!
      let [rows, moving] = [0, 0]
      for (let step = 0; step < 60; step++) {
        list.scrollTop += 700
        await new Promise(requestAnimationFrame)
        rows = Math.max(rows, list.querySelectorAll('tr').length)
        moving = Math.max(moving, list.getAnimations({ subtree: true }).length)
      }
      return { rows, moving }
    })
    assert.ok(rows < 60, `the list has ${rows} rows at once`)
    assert.equal(moving, 0, 'rows that load are not animated')
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
    // The second page of rows is delayed until the export is cancelled.
    await using _ = await intercept(page, /limit=1000&offset=1000/, held)
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    await page.getByRole('menuitem', { name: 'CSV' }).click()
    await page.getByText('1,000 of 3,000 exported').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Export', exact: true }).waitFor()
    assert.equal(await page.getByRole('main').getByRole('alert').count(), 0, 'what one stops is no problem')
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
    assert.match(await page.title(), /^(\(\d+\) )?203\.0\.113\.1 · /)
  })

  it('opens pages by keyboard shortcuts, and moves the focus to their title', async () => {
    const places = {
      o: 'Overview',
      a: 'Announcements',
      n: 'ASNs',
      e: 'Attacks',
      t: 'Members',
      p: 'Profile',
    }
    for (const [key, name] of Object.entries(places)) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.locator('h1:focus', { hasText: name }).waitFor()
      assert.match(await page.title(), new RegExp(`^(\\(\\d+\\) )?${name} · `))
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
    // Refused filters are part of the tests.
    assert.deepEqual(
      person.pageErrors.filter((one) => !/status of 422/.test(one)),
      [],
    )
  })

  it('has no animations if the user prefers reduced motion', async () => {
    await using still = await openExample(browser, server.url, { reducedMotion: 'reduce' })
    const { page: other } = still
    await other.goto(server.url)
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
  })

  it('shows all ports and bills of a service, and an error with Retry if they cannot be read', async () => {
    await using own = await openExample(browser, server.url)
    const { page: other } = own
    const ports = 1_001
    const isOf = (name: string) => (url: URL) =>
      url.pathname.startsWith('/v3/inventory/') && url.pathname.endsWith(name)
    const port = exampleOf(listPortsRoute).results[0]!
    const all = Array.from({ length: ports }, (_, at) => ({
      ...port,
      id: at + 1,
      circuit_id: `CIR-${at + 1}`,
    }))
    server.answer(listPortsRoute, (asked) => pageOf(all, asked))
    await other.goto(`${server.url}/services/1`)
    await other.getByText(`CIR-${ports}`, { exact: true }).waitFor()
    server.answer(listPortsRoute, undefined)
    const names = [
      '/ports',
      '/billable-ports',
      '/billing-periods',
      '/transceiver/metrics',
      '/cross-connects',
      '/attachments',
    ]
    const isRefused = (url: URL) =>
      names.some((name) => isOf(name)(url)) || url.searchParams.get('include') === 'log'
    await using _ = await intercept(own.context, isRefused, refused(403, 'forbidden'))
    for (const [place, titles] of [
      ['/services/1', ['Ports', 'Bill', 'Past months']],
      ['/ports/1', ['Light levels', 'Cross connects', 'Log']],
      ['/devices/1', ['Files']],
    ] as const) {
      await other.goto(server.url + place)
      for (const title of titles)
        await other
          .getByRole('region', { name: title, exact: true })
          .getByRole('button', { name: 'Retry' })
          .waitFor()
    }
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
