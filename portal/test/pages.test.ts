// Every page of the portal, for people: no page, dialog or error shows a key of a machine, a field name, a path of the API or its
// help, no failure reads like an all-clear, axe finds nothing in either theme, and everything fits on a phone.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { assertFits, axeViolations } from './accessibility.ts'
import { openBrowser, openPerson, settled, skipWithoutBrowser, visit } from './browser.ts'
import { Demo } from './demo.ts'
import { asUser } from './sample-data.ts'
import { mistakesInDns } from './mistakes-in-dns.ts'
import { fillDns } from './sample-dns.ts'
import { placesOfGuests, placesOfMembers, placesOfStaff } from './places.ts'

/** Texts of machines. Host and file names of the demo have dots too. */
const forbidden: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a backtick', /`/],
  ['a field name', /\b[a-z]+_[a-z0-9_]+\b/],
  ['a path of the API', /\/v3\//],
  ['a method', /\b(GET|POST|PUT|PATCH|DELETE) \//],
  ['a value of a program', /\b(undefined|null|NaN)\b|\[object/],
  [
    'a key',
    /(?<![@/\w.-])[a-z]+(?:\.[a-z_]+)*\.(?!example\b|net\b|com\b|org\b|de\b|pdf\b|test\b)[a-z_]+\b(?![\w.-]*\.)/,
  ],
]

const toldSoon = { timeout: 20_000 }

const placesOfPart = 10

const allClear = /\b(nothing to do|no ongoing attacks|all prefixes|up to date|everything is)\b/i

describe('the pages of the portal', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo({ traffic: true })
  let browser: Browser
  before(async () => {
    ;[browser] = await Promise.all([openBrowser(), demo.start()])
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
    for (const [place, mistake, make] of mistakesInDns) {
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
          .waitFor(toldSoon)
          .then(
            () => true,
            () => false,
          ))
      )
        found.push(`${place}: ${mistake} is not told`)
      await settled(page)
      found.push(...(await machineTexts(page, `${place}: ${mistake}`)))
      await page.unrouteAll()
    }
    assert.deepEqual([...new Set(found)], [])
    await context.close()
  })

  for (const [who, email, places] of visitors.slice(0, 2)) {
    it(`are for people when every request fails, and offer ${who} to try again`, async () => {
      const { context, page } = await openPerson(browser, demo.url, email)
      await context.route(
        (url) => url.pathname.startsWith('/v3/') && !url.pathname.startsWith('/v3/session'),
        (route) =>
          route.fulfill({
            status: 500,
            contentType: 'application/problem+json',
            body: JSON.stringify({
              type: 'about:blank',
              title: 'Internal error',
              status: 500,
              detail: 'relation "region_routers" failed in `saveCheck`',
              code: 'internal',
              help: 'Repeat with the same `Idempotency-Key`: GET /v3/ipam/announcements',
              request_id: '00000000-0000-4000-8000-000000000000',
            }),
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
      await context.close()
    })
  }
})

/** Returns the texts of machines that people see on the page: not those in code, which is meant to be copied. */
async function machineTexts(page: Page, place: string): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const seen: string[] = []
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement
      if (!parent || parent.closest('pre, code, kbd, script, style, noscript, [data-verbatim]')) continue
      if (parent.checkVisibility()) seen.push(node.textContent ?? '')
    }
    for (const name of ['aria-label', 'placeholder', 'title', 'aria-description'])
      for (const element of document.body.querySelectorAll(`[${name}]`))
        if (!element.closest('[data-verbatim]')) seen.push(element.getAttribute(name) ?? '')
    return seen
  })
  return texts.flatMap((text) =>
    forbidden
      .filter(([, pattern]) => pattern.test(text))
      .map(([what]) => `${place}: ${what} in "${text.trim()}"`),
  )
}

/** Findings of axe in both themes. */
async function mistakesOfLook(page: Page): Promise<string[]> {
  const found = await axeViolations(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  await settled(page)
  found.push(...(await axeViolations(page, 'colors')).map((one) => `dark theme: ${one}`))
  await page.emulateMedia({ colorScheme: 'light' })
  await page.locator('html[data-mantine-color-scheme=light]').waitFor()
  return found
}

/** Nothing is wider than the screen of a phone. */
async function assertFitsPhone(page: Page, place: string): Promise<void> {
  await page.setViewportSize({ width: 360, height: 740 })
  await assertFits(page, place, 360)
  await page.setViewportSize({ width: 1280, height: 800 })
}

/** Opens what each button of the page opens, and returns the texts of machines in it. */
async function inDialogs(page: Page, place: string): Promise<string[]> {
  const found: string[] = []
  const buttons = page.locator('main button:visible:enabled:not([role=switch], [role=tab], [type=submit])')
  const names = new Set<string>()
  for (let at = 0; at < (await buttons.count()); at++) {
    const button = buttons.nth(at)
    const name = await button
      .evaluate((one) => one.ariaLabel ?? (one as HTMLElement).innerText, undefined, { timeout: 2_000 })
      .catch(() => undefined)
    // A poll has removed it meanwhile.
    if (name === undefined) continue
    // Rows have the same buttons; the first is enough.
    const kind = name.replaceAll(/\S*[\d.@:]\S*/g, '')
    if (names.has(kind)) continue
    names.add(kind)
    await button.click({ timeout: 5_000 }).catch(() => {})
    const opened = page.locator('[role=dialog]:visible, [role=menu]:visible, [role=listbox]:visible')
    if ((await opened.count()) === 0) await page.waitForTimeout(150)
    if ((await opened.count()) > 0) {
      found.push(...(await machineTexts(page, `${place} > ${name}`)))
      await page.keyboard.press('Escape')
    }
    if (!page.url().includes(place)) await visit(page, place)
  }
  return found
}
