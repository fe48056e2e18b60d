// The monthly report on paper: it begins on the first page, charts show the whole month in the light colors, and the screen is as before
// afterwards.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { settled, skipWithoutBrowser } from './browser.ts'
import { useExample } from './example-suite.ts'

type Drawing = {
  readonly left: number
  readonly right: number
  readonly boxRight: number
  readonly axis: number
}

/** Where the charts stand on the page, and how light the ground is. */
const look = (page: Page) =>
  page.evaluate(() => {
    const drawings = [...document.querySelectorAll('[data-report] canvas')].map((canvas): Drawing => {
      const { left, right, width } = canvas.getBoundingClientRect()
      const box = canvas.closest('figure')!.getBoundingClientRect()
      // Texts are drawn with 11 pixels.
      const axis = (11 * width) / ((canvas as HTMLCanvasElement).width / devicePixelRatio)
      return { left, right, boxRight: box.right, axis }
    })
    return {
      drawings,
      scheme: document.documentElement.dataset['mantineColorScheme'],
      legends: [...document.querySelectorAll('[data-report] figure li button')].filter((one) =>
        one.checkVisibility(),
      ).length,
      isAvoidingBreaks: [...document.querySelectorAll('[data-report] > section')].some(
        (one) => getComputedStyle(one).breakInside !== 'auto',
      ),
    }
  })

describe('the report on paper', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  it('has whole charts with their legends, in the light colors, from the first page on', async () => {
    example.server.reset()
    await using person = await example.open({ colorScheme: 'dark', viewport: { width: 1440, height: 900 } })
    const { page, pageErrors } = person
    await page.goto(`${example.server.url}/reports`)
    await page.locator('[data-report] canvas').first().waitFor()
    await settled(page)
    const before = await look(page)
    assert.equal(before.scheme, 'dark')
    // As a browser does it for a print; the width of A4.
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    await page.setViewportSize({ width: 794, height: 1123 })
    const paper = await look(page)
    assert.equal(paper.scheme, 'light')
    assert.ok(paper.drawings.length > 0)
    for (const { left, right, boxRight, axis } of paper.drawings) {
      assert.ok(left >= 0 && right <= boxRight + 1, `a chart ends at ${right} of ${boxRight}`)
      assert.ok(axis >= 9, `its texts have ${axis} pixels`)
    }
    assert.ok(paper.legends > 0)
    assert.equal(paper.isAvoidingBreaks, false)
    await page.evaluate(() => dispatchEvent(new Event('afterprint')))
    await page.emulateMedia({ media: 'screen', colorScheme: 'dark' })
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.waitForFunction(
      (width) => document.querySelector('[data-report] canvas')!.getBoundingClientRect().width === width,
      before.drawings[0]!.right - before.drawings[0]!.left,
    )
    assert.deepEqual(await look(page), before)
    assert.deepEqual(pageErrors, [])
  })
})
