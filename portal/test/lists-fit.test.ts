// Every list of the portal, with times in UTC: times and the buttons of a row are whole at the width of a laptop, and a card on a phone
// has its name.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { skipWithoutBrowser, visit } from './browser.ts'
import { admin, staff } from './example-server.ts'
import { useExample } from './example-suite.ts'
import { placesOfMembers, placesOfStaff } from './places.ts'

/** Pixels of the name of a card: about eight characters. */
const nameWidthMin = 60

describe('the lists of the portal', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  const cutInTable = (page: Page) =>
    page.evaluate(() => {
      const found: string[] = []
      for (const list of document.querySelectorAll<HTMLElement>('[data-list]')) {
        const { right } = list.getBoundingClientRect()
        for (const cell of list.querySelectorAll<HTMLElement>('tbody td')) {
          const time = cell.querySelector('time')
          if (time && cell.scrollWidth > cell.clientWidth) found.push(`cut: ${time.textContent}`)
          if (time && cell.innerText.endsWith(' UTC')) found.push(`the zone in a cell: ${cell.innerText}`)
          if (!cell.querySelector('button:not([data-opener])')) continue
          if (cell.getBoundingClientRect().right > right + 1) found.push(`outside: ${cell.innerText}`)
          if (cell.scrollWidth > cell.clientWidth) found.push(`cut: ${cell.innerText}`)
        }
        if (list.scrollWidth > list.clientWidth)
          found.push(`scrolls sideways: ${list.scrollWidth} of ${list.clientWidth}`)
        for (const title of list.querySelectorAll<HTMLElement>('thead th span'))
          if (title.scrollWidth > title.clientWidth) found.push(`a cut heading: ${title.innerText}`)
        const isOfTimes = list.querySelector('tbody td time') !== null
        if (isOfTimes && !/\(UTC\)/.test(list.querySelector('thead')!.textContent))
          found.push('no heading names the zone')
      }
      return found
    })

  const namelessCards = (page: Page) =>
    page.evaluate(
      (min) =>
        [...document.querySelectorAll<HTMLElement>('[data-list] tbody tr:not([aria-busy], [aria-hidden])')]
          .map((row) => row.querySelector<HTMLElement>('td > div > div > div')!)
          .filter((name) => name.clientWidth < Math.min(min, name.scrollWidth) || name.innerText === '')
          .map((name) => `a card whose name has ${name.clientWidth} px: ${name.innerText}`),
      nameWidthMin,
    )

  for (const [who, user, places] of [
    ['a member', admin, placesOfMembers],
    ['staff', staff, placesOfStaff],
  ] as const)
    it(`fit for ${who}`, async () => {
      example.server.reset()
      example.server.user = user
      await using person = await example.open({ timezoneId: 'America/Denver', reducedMotion: 'reduce' })
      const { page } = person
      await page.addInitScript(() => localStorage.setItem('pharos-zone', '"utc"'))
      await page.goto(example.server.url)
      const found: string[] = []
      let lists = 0
      for (const place of places) {
        await page.setViewportSize({ width: 1440, height: 900 })
        await visit(page, place)
        if ((await page.locator('[data-list]').count()) === 0) continue
        lists += 1
        found.push(...(await cutInTable(page)).map((text) => `${place}: ${text}`))
        await page.setViewportSize({ width: 390, height: 844 })
        await page.locator('[data-list][data-density=card]').first().waitFor()
        found.push(...(await namelessCards(page)).map((text) => `${place}: ${text}`))
      }
      assert.ok(lists >= 5)
      assert.deepEqual(found, [])
    })
})
