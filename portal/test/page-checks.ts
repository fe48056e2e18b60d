// The checks of every page: no machine texts, no findings of axe, no overflow on a phone; dialogs too.
import type { Page } from 'playwright-core'
import { assertFits, axeViolations } from './accessibility.ts'
import { settled, visit } from './browser.ts'

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

/** Returns the texts of machines that people see on the page: not those in code, which is meant to be copied. */
export async function machineTexts(page: Page, place: string): Promise<string[]> {
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

/** Findings of axe in both themes. The page keeps the second: to change the theme for each page twice takes a tenth of the whole test. */
export async function mistakesOfLook(page: Page): Promise<string[]> {
  const first = await page.evaluate(() => document.documentElement.dataset['mantineColorScheme'])
  const second = first === 'light' ? 'dark' : 'light'
  const found = (await axeViolations(page)).map((one) => `${first} theme: ${one}`)
  await page.emulateMedia({ colorScheme: second })
  await page.locator(`html[data-mantine-color-scheme=${second}]`).waitFor()
  await settled(page)
  found.push(...(await axeViolations(page, 'colors')).map((one) => `${second} theme: ${one}`))
  return found
}

/** Nothing is wider than the screen of a phone. */
export async function assertFitsPhone(page: Page, place: string): Promise<void> {
  await page.setViewportSize({ width: 360, height: 740 })
  await assertFits(page, place, 360)
  await page.setViewportSize({ width: 1280, height: 800 })
}

/** Whether nothing has the focus, for longer than it takes to give it back. */
async function isFocusLost(page: Page): Promise<boolean> {
  const isBody = () => document.activeElement === document.body
  return await page
    .waitForFunction(`!(${isBody})()`, undefined, { timeout: 2_000 })
    .then(() => false)
    .catch(() => page.evaluate(isBody))
}

/** Opens what each button of the page opens, and returns the texts of machines in it, and where the focus is lost when it closes. */
export async function inDialogs(page: Page, place: string): Promise<string[]> {
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
      await opened
        .first()
        .waitFor({ state: 'hidden', timeout: 2_000 })
        .catch(() => {})
      if (await isFocusLost(page)) found.push(`${place} > ${name}: the focus is lost when it closes`)
    }
    if (!page.url().includes(place)) await visit(page, place)
  }
  return found
}
