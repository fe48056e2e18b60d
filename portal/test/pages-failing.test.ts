// Every page of the portal while every request fails: it shows no key of a machine, does not read like an all-clear, and offers to try again.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { skipWithoutBrowser, visit } from './browser.ts'
import { admin, staff } from './example-server.ts'
import { useExample } from './example-suite.ts'
import { intercept, refused } from './intercept.ts'
import { machineTexts } from './page-checks.ts'
import { placesOfMembers, placesOfStaff } from './places.ts'

const allClear = /\b(nothing to do|no ongoing attacks|all prefixes|up to date|everything is)\b/i

describe('the pages of the portal', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  const visitors = [
    ['a member', admin, placesOfMembers],
    ['staff', staff, placesOfStaff],
  ] as const

  for (const [who, user, places] of visitors)
    it(`are for people when every request fails, and offer ${who} to try again`, async () => {
      example.server.reset()
      example.server.user = user
      await using person = await example.open()
      const { context, page } = person
      // Before the first page: an earlier answer would appear beside later failures.
      await using _ = await intercept(
        context,
        (url) => url.pathname.startsWith('/v3/') && !url.pathname.startsWith('/v3/session'),
        refused(500, 'internal', {
          title: 'Internal error',
          detail: 'relation "region_routers" failed in `saveCheck`',
          help: 'Repeat with the same `Idempotency-Key`: GET /v3/ipam/announcements',
        }),
      )
      await page.goto(example.server.url)
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
})
