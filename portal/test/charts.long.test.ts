// The charts in a browser, under the portal's content security policy: pointer, keyboard, zoom, tables, color schemes.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { assertFits, axeViolations } from './accessibility.ts'
import { openBrowser, skipWithoutBrowser, waitMs, watch } from './browser.ts'
import { startGallery, type Gallery } from './gallery/serve.ts'

describe('charts', { skip: skipWithoutBrowser() }, () => {
  let browser: Browser
  let gallery: Gallery
  before(async () => {
    gallery = await startGallery()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await gallery?.stop()
  })

  async function open(path = '/', width = 1440) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, timezoneId: 'UTC' })
    context.setDefaultTimeout(waitMs)
    const pageErrors = watch(context, gallery.url)
    const page = await context.newPage()
    await page.goto(gallery.url + path)
    await page.locator('canvas').nth(7).waitFor()
    return { context, page, pageErrors }
  }

  const chartOf = (page: Page, name: string) => {
    const card = page.getByRole('region', { name, exact: true })
    return { card, stage: card.getByRole('application'), live: card.locator('[aria-live]') }
  }

  it('move their point with the arrow keys, announce it, and open it with Enter', async () => {
    const { context, page, pageErrors } = await open()
    const { stage, live, card } = chartOf(page, 'Attacks by day and peak')
    await stage.focus()
    await page.keyboard.press('End')
    await page.waitForFunction((node) => node!.textContent !== '', await live.elementHandle())
    assert.match((await live.textContent())!, /^Sun 22 Nov, Over 20 Gbps \d, .*Total \d+/)
    await page.keyboard.press('ArrowLeft')
    await page.waitForFunction(
      (node) => node!.textContent?.startsWith('Sat 21 Nov'),
      await live.elementHandle(),
    )
    await card.getByText('Click to open').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/day=2026-11-21/)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('show the values of all series at the pointer, and open what is clicked', async () => {
    const { context, page, pageErrors } = await open()
    const { card, stage } = chartOf(page, 'Attacks by start and peak rate')
    await stage.hover()
    await card.getByText(/203\.0\.113\.\d+, DNS amplification/).waitFor()
    await stage.locator('.u-over').click()
    await page.waitForURL(/\/events\/\d+$/)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('zoom by dragging and by keys, until Reset', async () => {
    const { context, page, pageErrors } = await open()
    const { card, stage, live } = chartOf(page, 'Inbound traffic by source AS')
    const box = (await stage.locator('.u-over').boundingBox())!
    await page.mouse.move(box.x + box.width * 0.5, box.y + 50)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 4 })
    await page.mouse.up()
    const reset = card.getByRole('button', { name: 'Reset zoom' })
    await reset.click()
    await reset.waitFor({ state: 'detached' })
    await stage.focus()
    await page.keyboard.press('Home')
    await page.waitForFunction((node) => node!.textContent !== '', await live.elementHandle())
    await page.keyboard.press('+')
    await reset.waitFor()
    await page.keyboard.press('0')
    await reset.waitFor({ state: 'detached' })
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('share the time under the pointer with charts of a similar range, and only with these', async () => {
    const { context, page, pageErrors } = await open()
    const { stage } = chartOf(page, 'Inbound traffic by source AS')
    await stage.hover()
    const tooltip = (name: string) => chartOf(page, name).card.locator('[class*=tooltipTime]')
    const time = await tooltip('Inbound traffic by source AS').innerText()
    assert.equal(await tooltip('Lines, dashed, two units').innerText(), time)
    assert.equal(await tooltip('Attacks by start and peak rate').count(), 0)
    await page.mouse.move(0, 0)
    await tooltip('Lines, dashed, two units').waitFor({ state: 'detached' })
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('name thresholds in the legend, and list events that have no room in the drawing', async () => {
    const { context, page, pageErrors } = await open()
    const { card } = chartOf(page, 'Traffic to 203.0.113.77')
    await card
      .getByRole('listitem')
      .filter({ hasText: /threshold\s*2 Gbps/ })
      .waitFor()
    const further = card.getByRole('group', { name: 'Further events' })
    await further.getByRole('button', { name: 'Show 1 more' }).click()
    await further.getByRole('link', { name: 'UDP flood 203.0.113.9' }).click()
    await page.waitForURL(/\/events\/9$/)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('are tables with links, and hide a series of the legend', async () => {
    const { context, page, pageErrors } = await open()
    const { card } = chartOf(page, 'Attacks by day and peak')
    await card.getByRole('button', { name: 'Show as table' }).click()
    assert.equal(await card.getByRole('row').count(), 31)
    assert.equal(await card.getByRole('row').nth(1).getByRole('cell').count(), 5)
    const entry = card.getByRole('button', { name: 'Under 5 Gbps' })
    await entry.click()
    assert.equal(await entry.getAttribute('aria-pressed'), 'false')
    await card.getByRole('row').nth(30).getByRole('link').click()
    await page.waitForURL(/day=2026-11-22/)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('are drawn in the colors of a scheme that changes', async () => {
    const { context, page, pageErrors } = await open()
    const picture = () =>
      page
        .locator('canvas')
        .first()
        .evaluate((canvas) => (canvas as unknown as { toDataURL: () => string }).toDataURL())
    const light = await picture()
    await page.evaluate(`document.documentElement.dataset.mantineColorScheme = 'dark'`)
    for (const end = performance.now() + waitMs; (await picture()) === light; await page.waitForTimeout(50))
      assert.ok(performance.now() < end)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('have flows, regions and ports that the keyboard reaches', async () => {
    const { context, page, pageErrors } = await open()
    const flows = page.getByRole('group', { name: 'Traffic by source AS, region and prefix' })
    const first = flows.getByRole('link').first()
    await first.focus()
    assert.match((await first.getAttribute('aria-label'))!, /^AS65010 to AMS: 6 Gbps, \d+ %$/)
    await page.keyboard.press('ArrowRight')
    assert.match((await page.locator(':focus').getAttribute('aria-label'))!, /^AS65010 to FRA/)
    const ports = page.getByRole('group', { name: 'Ports of ams-edge-1' })
    await ports.getByRole('link').first().focus()
    await page.keyboard.press('End')
    assert.match((await page.locator(':focus').getAttribute('aria-label'))!, /^xe-1\/0\/31, /)
    const region = page.getByRole('link', { name: /NYC.*New York, withdrawing/ })
    await region.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/regions\/NYC/)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  for (const scheme of ['light', 'dark'])
    it(`have no serious accessibility problem and fit a phone, in the ${scheme} scheme`, async () => {
      const { context, page, pageErrors } = await open(`/?scheme=${scheme}`)
      assert.deepEqual(await axeViolations(page), [])
      await page.setViewportSize({ width: 320, height: 740 })
      await assertFits(page, 'the gallery', 320)
      assert.deepEqual(pageErrors, [])
      await context.close()
    })
})
