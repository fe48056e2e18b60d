// Every page of the portal with the data of the demo: what pages.test.ts checks, in every dialog too; and how mistakes in DNS are told.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { openBrowser, openPerson, settled, skipWithoutBrowser, visit } from './browser.ts'
import { Demo } from './demo.ts'
import { intercept } from './intercept.ts'
import { mistakesInDns } from './mistakes-in-dns.ts'
import { assertFitsPhone, inDialogs, machineTexts, mistakesOfLook } from './page-checks.ts'
import { placesOfGuests, placesOfMembers, placesOfStaff } from './places.ts'
import { asUser } from './sample-data.ts'
import { fillDns } from './sample-dns.ts'

const placesOfPart = 10

describe('the pages of the portal', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo({ traffic: true })
  let browser: Browser
  before(async () => {
    await demo.start()
    browser = await openBrowser()
    await fillDns(await asUser(demo.url, 'demo@demo.example'))
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  const visitors = [
    ['a member', 'demo@demo.example', placesOfMembers],
    ['staff', 'staff@demo.example', placesOfStaff],
    ['a guest', undefined, placesOfGuests],
  ] as const

  // Each part stays far below the time limit of a test, on a slow machine too.
  const parts = visitors.flatMap(([who, email, places]) =>
    Array.from({ length: Math.ceil(places.length / placesOfPart) }, (_, at) => {
      const first = at * placesOfPart
      return { who, email, first, places: places.slice(first, first + placesOfPart) }
    }),
  )
  for (const { who, email, first, places } of parts) {
    it(`are for everyone who is ${who}, with their dialogs, in both themes and on a phone, from page ${first + 1}`, async () => {
      // Colors in the middle of a transition have other contrasts.
      const still = { reducedMotion: 'reduce' } as const
      const { context, page, pageErrors } = await openPerson(browser, demo.url, email, still)
      if (!email) await page.goto(demo.url)
      const found: string[] = []
      for (const place of places) {
        await visit(page, place)
        found.push(...(await machineTexts(page, place)))
        found.push(...(await mistakesOfLook(page)).map((mistake) => `${place}: ${mistake}`))
        await assertFitsPhone(page, place)
        found.push(...(await inDialogs(page, place)))
      }
      assert.deepEqual([...new Set(found)], [])
      assert.deepEqual(pageErrors, [])
      await context.close()
    })
  }

  it('are for people where a mistake in DNS is told', async () => {
    const { context, page } = await openPerson(browser, demo.url, 'demo@demo.example')
    const found: string[] = []
    for (const [place, mistake, make, refusal] of mistakesInDns) {
      await using _ = refusal && (await intercept(page, ...refusal))
      await page.goto(demo.url + place)
      await settled(page)
      await make(page)
      const told = page.locator(
        ':is(main, [role=dialog]) :is([role=alert], [aria-invalid=true], [data-field-error])',
      )
      if (
        !(await told
          .or(page.getByRole('region', { name: 'Report' }))
          .first()
          .waitFor()
          .then(
            () => true,
            () => false,
          ))
      )
        found.push(`${place}: ${mistake} is not told`)
      await settled(page)
      found.push(...(await machineTexts(page, `${place}: ${mistake}`)))
    }
    assert.deepEqual([...new Set(found)], [])
    await context.close()
  })
})
