// Traffic in a browser, with the flows that the demo sends through its collector: the query in the address, filters from the table,
// export, and the states in which nothing can be shown.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Browser, Download, Page } from 'playwright-core'
import { assertFits, axeViolations } from './accessibility.ts'
import { openBrowser, openPerson, settled, skipWithoutBrowser, waitMs } from './browser.ts'
import { Demo } from './demo.ts'
import { intercept, refused } from './intercept.ts'

const series = '**/v3/lighthouse/network/flows/timeseries'

describe('traffic in the portal', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo({ traffic: true })
  let browser: Browser
  before(async () => {
    await demo.start()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  const person = () => openPerson(browser, demo.url, 'demo@demo.example', { timezoneId: 'UTC' })
  const table = (page: Page) => page.getByRole('region', { name: 'Groups' }).getByRole('table')

  /** The first flows arrive seconds after the start. */
  async function openTraffic(page: Page, search = ''): Promise<void> {
    for (const end = performance.now() + waitMs; ; await page.waitForTimeout(1_000)) {
      await page.goto(`${demo.url}/traffic${search}`)
      await settled(page)
      if (await table(page).isVisible()) return
      assert.ok(performance.now() < end, await page.locator('main').innerText())
    }
  }

  it('is grouped, filtered from the table and restored from the address', async () => {
    const { context, page, pageErrors } = await person()
    await openTraffic(page)
    const first = table(page).getByRole('row').nth(1)
    await first.getByRole('button', { name: /^Show only/ }).waitFor()
    assert.match(await first.innerText(), /\d %/)

    await page.getByRole('button', { name: 'Dimension' }).click()
    await page.getByLabel('Find a dimension').fill('local port')
    await page.getByRole('menuitem', { name: 'Local port', exact: true }).click()
    await page.waitForURL(/by=protocol,local_port/)
    await page.getByRole('heading', { name: 'Protocol → Local port' }).waitFor()

    await page.getByText('Lines', { exact: true }).click()
    await page.waitForURL(/chart=lines/)
    await table(page)
      .getByRole('button', { name: /^Show only/ })
      .first()
      .click()
    await page.waitForURL(/filter=protocol:eq:/)
    await page
      .getByRole('group', { name: 'Filters' })
      .getByRole('button', { name: /^Protocol is/ })
      .waitFor()
    await page.getByRole('button', { name: /^Time range/ }).click()
    await page.getByRole('button', { name: 'Last hour' }).click()
    await page.waitForURL(/range=1h/)
    const address = page.url()
    await page.reload()
    await table(page).waitFor()
    assert.equal(page.url(), address)
    await page.getByRole('button', { name: 'Time range: Last hour' }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.waitForURL((url) => !url.search.includes('filter='))

    const stage = page.getByRole('application').first()
    await stage.locator('canvas').first().waitFor()
    await stage.focus()
    await page.keyboard.press('+')
    await page.waitForURL(/from=.*to=/)
    await page.getByRole('button', { name: 'Reset zoom' }).press('Enter')
    await page.waitForURL(/range=1h/)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('takes filters whose values are suggested', async () => {
    const { context, page } = await person()
    await openTraffic(page)
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Field').first().fill('Proto')
    await dialog.getByRole('option', { name: 'Protocol', exact: true }).click()
    await dialog.getByLabel('Value').first().fill('ud')
    await dialog.getByRole('option', { name: /udp/i }).first().click()
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL(/filter=protocol:eq:(udp|17)/)
    await table(page).waitFor()

    // 80 is suggested.
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await dialog.getByLabel('Field').first().fill('Destination port')
    await dialog.getByRole('option', { name: 'Destination port', exact: true }).click()
    await dialog.getByLabel('Value').first().fill('80')
    await dialog.getByRole('option', { name: 'HTTP (80)', exact: true }).waitFor()
    await dialog.getByLabel('Value').first().pressSequentially('80')
    await page.keyboard.press('Enter')
    await page.waitForURL(/dst_port:eq:8080/)
    await context.close()
  })

  it('is exported as CSV, compared with the period before, and kept as a view', async () => {
    const { context, page } = await person()
    await openTraffic(page)
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ])
    assert.match(readFileSync(await (file as Download).path(), 'utf8'), /^start,protocol,label,bps\n/)
    await page.getByRole('switch', { name: 'Compare with the period before' }).click()
    await page.waitForURL(/compare=previous/)
    await table(page).getByRole('columnheader', { name: 'Change' }).waitFor()
    await page.getByRole('button', { name: 'Views' }).click()
    await page
      .getByRole('button', { name: 'Save view' })
      .or(page.getByRole('button', { name: /^Save/ }))
      .first()
      .click()
    await page.getByLabel('Name').fill('Compared')
    await page.keyboard.press('Enter')
    await page.goto(`${demo.url}/traffic`)
    await settled(page)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('button', { name: 'Compared', exact: true }).click()
    await page.waitForURL(/compare=previous/)
    await context.close()
  })

  it('adds what it shows to the overview, as a panel that says if the store does not answer', async () => {
    const { context, page, pageErrors } = await person()
    await openTraffic(page, '?chart=heatmap&range=1h')
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('button', { name: 'Add to my overview' }).click()
    await page.getByText('Added to your overview.').waitFor()

    await page.goto(demo.url)
    const last = page.locator('[data-panel]').last()
    await last.scrollIntoViewIfNeeded()
    await last.getByText('Last hour', { exact: true }).waitFor()
    await last.locator('canvas').waitFor()
    await settled(page)
    assert.deepEqual(await axeViolations(page), [])
    await last.getByRole('heading').getByRole('link').click()
    await page.waitForURL((url) => url.pathname === '/traffic' && /chart=heatmap.*range=1h/.test(url.search))
    assert.deepEqual(pageErrors, [])

    await using _ = await intercept(
      context,
      series,
      refused(503, 'unavailable', { degraded: ['clickhouse'] }),
    )
    await page.goto(demo.url)
    await last.scrollIntoViewIfNeeded()
    await last.getByText('The flow store is not available').waitFor()
    await context.close()
  })

  it('is a heatmap whose cells the keyboard and the pointer read as the table has them', async () => {
    const { context, page, pageErrors } = await person()
    await openTraffic(page)
    await page.getByText('Heatmap', { exact: true }).click()
    await page.waitForURL(/chart=heatmap/)
    // A time that has passed does not change between two readings.
    const minute = (ago: number) => new Date(Date.now() - ago * 60_000).toISOString().slice(0, 16)
    await openTraffic(page, `?chart=heatmap&by=remote_asn&from=${minute(50)}Z&to=${minute(20)}Z`)
    const picture = page.getByRole('figure', { name: 'Inbound bits per second by remote AS' })
    const stage = picture.getByRole('application')
    await picture.locator('canvas').waitFor()
    await picture.getByText('0', { exact: true }).waitFor()
    await picture.getByRole('button', { name: 'Show as table' }).click()
    const cells = (at: number) => picture.getByRole('row').nth(at).getByRole('cell').allInnerTexts()
    const names = await picture.getByRole('columnheader').allInnerTexts()
    assert.ok(names.length > 3, names.join())
    const live = picture.locator('[aria-live]')
    const reads = async (row: number, at: number) => {
      const [time, ...values] = await cells(at)
      const text = `${time}, ${names[row + 1]} ${values[row]}`
      await page.waitForFunction(([node, wanted]) => node!.textContent === wanted, [
        await live.elementHandle(),
        text,
      ] as const)
    }
    await stage.focus()
    await page.keyboard.press('Home')
    await reads(0, 1)
    await page.keyboard.press('ArrowDown')
    await reads(1, 1)
    await page.keyboard.press('ArrowRight')
    await reads(1, 2)
    await page.keyboard.press('ArrowUp')
    await reads(0, 2)
    // Near the lower right corner: the last time of the last group.
    const area = (await stage.locator('.u-over').boundingBox())!
    await page.mouse.move(area.x + area.width - 3, area.y + area.height - 5)
    const [time, ...values] = await cells((await picture.getByRole('row').count()) - 1)
    const tip = stage.locator('[data-side]')
    assert.equal(await tip.innerText(), [time, names.at(-1), values.at(-1)].join('\n'))
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('says what failed instead of showing no traffic', async () => {
    const { context, page } = await person()
    const down = await intercept(context, series, refused(503, 'unavailable', { degraded: ['clickhouse'] }))
    await page.goto(`${demo.url}/traffic`)
    await page.getByRole('alert').filter({ hasText: 'The flow store is not available' }).waitFor()
    await down.stop()
    const expensive = await intercept(context, series, refused(503, 'query_too_expensive'))
    await page.goto(`${demo.url}/traffic?by=src_address,dst_address&range=30d`)
    const alert = page.getByRole('alert').filter({ hasText: 'The query needs too much work' })
    await alert.getByRole('button', { name: /shorter time range/ }).waitFor()
    await expensive.stop()
    await alert.getByRole('button', { name: 'Remove the dimension', exact: false }).click()
    await page.waitForURL(/by=src_address&/)
    await page.goto(`${demo.url}/traffic?metric=furlongs`)
    await page.getByText('Ignored in this address: metric').waitFor()
    await context.close()
  })

  it('is accessible and fits on a phone', async () => {
    const { context, page } = await person()
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      for (const search of [
        '?by=protocol,local_port',
        '?chart=grid',
        '?by=remote_asn&chart=heatmap',
        '?by=protocol,local_port&chart=sankey',
      ]) {
        await openTraffic(page, search)
        assert.deepEqual(await axeViolations(page), [], search)
        await assertFits(page, search, width)
      }
    }
    await context.close()
  })
})
