// The command palette: keys while its file is on its way, which are neither lost nor sent to the page below; the actions of pages; actions on an object
// that is named after a verb.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { updateAnnouncementRoute } from '@pharos/contract/byoip/announcement'
import { searchRoute } from '@pharos/contract/search'
import type { Page } from 'playwright-core'
import { settled, skipWithoutBrowser } from './browser.ts'
import { useExample } from './example-suite.ts'
import { held, intercept } from './intercept.ts'

/** `g` and `e` are the shortcut of a page, `j` moves in its list. */
const typed = 'ge jack'

/** Of the examples of the contract. */
const announcement = { id: 4211, cidr: '203.0.113.0/24' }

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

  it('runs an action of the page, and the focus returns to it', async () => {
    example.server.reset()
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page } = person
    await page.goto(`${example.server.url}/announcements/${announcement.id}`)
    await settled(page)
    await page.keyboard.press('Control+k')
    await field(page).fill('withdr')
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw', exact: true }).click()
    await page.getByRole('dialog', { name: `Withdraw ${announcement.cidr}?` }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForFunction(() => document.activeElement?.textContent === 'Withdraw')
  })

  it('does to an object what a verb before its name says, from any page, with the dry run first', async () => {
    example.server.reset()
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page } = person
    await page.goto(`${example.server.url}/team`)
    await settled(page)
    await page.keyboard.press('Control+k')
    await field(page).fill('withdraw')
    await page.getByRole('dialog').getByText('Withdraw … (a prefix)').click()
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('[role=dialog] input')?.value === 'Withdraw ',
    )
    await page.getByRole('dialog').getByText('Type the name of a prefix').waitFor()
    await page.keyboard.type(announcement.cidr)
    await page
      .locator('[data-palette] [data-selected]')
      .getByText(`Withdraw ${announcement.cidr}`, { exact: true })
      .waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: `Withdraw ${announcement.cidr}?` }).waitFor()
    assert.equal(new URL(page.url()).pathname, `/announcements/${announcement.id}`)
    const kinds = example.server.asked(searchRoute).map(({ query }) => query.getAll('kind').join())
    assert.ok(kinds.includes('announcement'), kinds.join(' '))
    const changes = example.server.asked(updateAnnouncementRoute)
    assert.ok(
      changes.every(({ query }) => query.get('dry_run') === 'true'),
      'nothing was changed',
    )
  })

  it('says that an action is not possible, on the page that shows why', async () => {
    example.server.reset()
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page } = person
    await page.goto(`${example.server.url}/team`)
    await settled(page)
    await page.clock.install()
    await page.keyboard.press('Control+k')
    await field(page).fill(`announce ${announcement.cidr}`)
    await page.clock.runFor(1_000)
    await page.getByRole('dialog').getByText(`Announce ${announcement.cidr}`, { exact: true }).click()
    await page.getByRole('heading', { name: announcement.cidr, level: 1 }).waitFor()
    await page.clock.runFor(10_000)
    await page.getByText(`${announcement.cidr}: "Announce" is not possible now.`).waitFor()
  })
})
