// Every page of the portal, for people: no page or error shows a key of a machine, a field name, a path of the API or its help, no failure
// reads like an all-clear, axe finds nothing in either theme, and everything fits on a phone. The data are the examples of the contract;
// pages.long.test.ts has those of the demo, and the dialogs.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser } from 'playwright-core'
import { openBrowser, openExample, skipWithoutBrowser, visit } from './browser.ts'
import { admin, staff, startExampleServer, type ExampleServer } from './example-server.ts'
import { intercept, refused } from './intercept.ts'
import { assertFitsPhone, machineTexts, mistakesOfLook } from './page-checks.ts'
import { placesOfGuests, placesOfMembers, placesOfStaff } from './places.ts'

const allClear = /\b(nothing to do|no ongoing attacks|all prefixes|up to date|everything is)\b/i

describe('the pages of the portal', { skip: skipWithoutBrowser() }, () => {
  let browser: Browser
  let server: ExampleServer
  before(async () => {
    server = await startExampleServer()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  /** Colors in the middle of a transition have other contrasts. */
  async function open(user = admin) {
    server.reset()
    server.user = user
    const person = await openExample(browser, server.url, { reducedMotion: 'reduce' })
    await person.page.goto(server.url)
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
        await page.goto(server.url)
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

  for (const [who, user, places] of visitors.slice(0, 2)) {
    it(`are for people when every request fails, and offer ${who} to try again`, async () => {
      await using person = await open(user)
      const { context, page } = person
      await using _ = await intercept(
        context,
        (url) => url.pathname.startsWith('/v3/') && !url.pathname.startsWith('/v3/session'),
        refused(500, 'internal', {
          title: 'Internal error',
          detail: 'relation "region_routers" failed in `saveCheck`',
          help: 'Repeat with the same `Idempotency-Key`: GET /v3/ipam/announcements',
        }),
      )
      const found: string[] = []
      for (const place of places) {
        await visit(page, place)
        found.push(...(await machineTexts(page, place)))
        const text = await page.locator('main').innerText()
        const claim = allClear.exec(text)?.[0]
        if (claim !== undefined) found.push(`${place}: all-clear "${claim}"`)
        const alerts = page.locator('main [role=alert]')
        const retries = page.locator('main').getByRole('button', { name: 'Retry' })
        if ((await alerts.count()) > 0 && (await retries.count()) === 0) found.push(`${place}: no Retry`)
      }
      assert.deepEqual([...new Set(found)], [])
    })
  }
})
