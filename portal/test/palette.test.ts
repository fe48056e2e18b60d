// The command palette while its file is on its way: keys are neither lost nor sent to the page below.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { searchRoute } from '@pharos/contract/search'
import type { Page } from 'playwright-core'
import { skipWithoutBrowser } from './browser.ts'
import { useExample } from './example-suite.ts'
import { held, intercept } from './intercept.ts'

/** `g` and `e` are the shortcut of a page, `j` moves in its list. */
const typed = 'ge jack'

describe('the command palette', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()
  const field = (page: Page) => page.getByRole('dialog').getByPlaceholder('Search or jump to…')
  const valueOf = (page: Page) => field(page).inputValue()

  for (const [where, focus] of [
    ['the page', undefined],
    ['a field of the page', '[data-search]'],
  ] as const)
    it(`has what was typed before it was loaded, with the focus on ${where}`, async () => {
      await using person = await example.open()
      const { page, pageErrors } = person
      await using file = await intercept(page, '**/assets/palette-*.js', held)
      await page.goto(`${example.server.url}/announcements`)
      await page.getByRole('heading', { name: 'Announcements' }).waitFor()
      if (focus) await page.locator(focus).focus()
      await page.keyboard.press('Control+k')
      await page.keyboard.type(typed)
      await page.keyboard.type('x')
      await page.keyboard.press('Backspace')
      await page.getByText(typed, { exact: true }).waitFor()
      file.release()
      // Between its arrival and its focus too.
      await page.keyboard.type(' of nine', { delay: 20 })
      await field(page).waitFor()
      await page.keyboard.type(' lives', { delay: 20 })
      assert.equal(await valueOf(page), `${typed} of nine lives`)
      assert.equal(new URL(page.url()).pathname, '/announcements')
      if (focus) assert.equal(await page.locator(focus).inputValue(), '')
      await page.waitForFunction(() => document.activeElement?.matches('[role=dialog] input'))
      await page.keyboard.press('Escape')
      await field(page).waitFor({ state: 'detached' })
      // The next time it is empty.
      await page.keyboard.press('Control+k')
      await field(page).waitFor()
      assert.equal(await valueOf(page), '')
      assert.deepEqual(pageErrors, [])
    })

  it('closes with Escape before it was loaded', async () => {
    example.server.reset()
    await using person = await example.open()
    const { page } = person
    await using file = await intercept(page, '**/assets/palette-*.js', held)
    await page.goto(`${example.server.url}/announcements`)
    await page.getByRole('heading', { name: 'Announcements' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('nothing')
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('e')
    await page.waitForURL(/\/events$/)
    file.release()
    assert.equal(await field(page).count(), 0)
    assert.equal(example.server.asked(searchRoute).length, 0)
  })
})
