// Every page of the portal, for people: no machine keys, field names, API paths or API descriptions, axe finds nothing in either
// theme, and everything fits on a phone. The data are the examples of the contract; pages-failing.test.ts has pages whose requests fail, and
// pages.long.test.ts has the data of the demo, and the dialogs.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { skipWithoutBrowser, visit } from './browser.ts'
import { admin, staff } from './example-server.ts'
import { useExample } from './example-suite.ts'
import { assertFitsPhone, machineTexts, mistakesOfLook } from './page-checks.ts'
import { placesOfGuests, placesOfMembers, placesOfStaff } from './places.ts'

describe('the pages of the portal', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  /** Colors in the middle of a transition have other contrasts. */
  async function open(user = admin) {
    example.server.reset()
    example.server.user = user
    const person = await example.open({ reducedMotion: 'reduce' })
    await person.page.goto(example.server.url)
    return person
  }

  const visitors = [
    ['a member', admin, placesOfMembers],
    ['staff', staff, placesOfStaff],
    ['a guest', admin, placesOfGuests],
  ] as const

  for (const [who, user, places] of visitors)
    it(`are for ${who}: in words, in both themes and on a phone`, async () => {
      await using person = await open(user)
      const { context, page, pageErrors } = person
      if (who === 'a guest') {
        await context.clearCookies()
        await page.goto(example.server.url)
      }
      const found: string[] = []
      for (const place of places) {
        await visit(page, place)
        found.push(...(await machineTexts(page, place)))
        found.push(...(await mistakesOfLook(page)).map((mistake) => `${place}: ${mistake}`))
        await assertFitsPhone(page, place)
      }
      assert.deepEqual([...new Set(found)], [])
      assert.deepEqual(pageErrors, [])
    })

  it('show with forced colors what only a background shows otherwise: switches, what is chosen, series, states', async () => {
    example.server.reset()
    await using person = await example.open({ forcedColors: 'active', reducedMotion: 'reduce' })
    const { page } = person
    await page.goto(`${example.server.url}/announcements/4211`)
    const styleOf = async (selector: string, name: string) => {
      const element = page.locator(selector).first()
      await element.waitFor({ state: 'attached' })
      return await element.evaluate((one, of) => getComputedStyle(one).getPropertyValue(of), name)
    }
    assert.equal(await styleOf('.mantine-Switch-track', 'border-top-style'), 'solid')
    assert.equal(await styleOf('.mantine-Tabs-tab[data-active]', 'outline-style'), 'solid')
    assert.equal(await styleOf('.mantine-SegmentedControl-label[data-active]', 'outline-style'), 'solid')
    assert.equal(await styleOf('nav .mantine-NavLink-root[data-active]', 'outline-style'), 'solid')
    assert.equal(await styleOf('[data-legend] [data-shape]', 'forced-color-adjust'), 'none')
    const track = await styleOf('.mantine-Switch-input:checked + * .mantine-Switch-thumb', 'background-color')
    const ground = await styleOf(
      '.mantine-Switch-input:checked + .mantine-Switch-track, .mantine-Switch-track:has(.mantine-Switch-thumb)',
      'background-color',
    )
    assert.notEqual(track, ground)
  })
})
