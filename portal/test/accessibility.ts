// Checks a page with axe, and that it is not wider than the screen.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { animationsEnd, waitMs } from './browser.ts'

const require = createRequire(import.meta.url)
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; impact: string; nodes: { html: string }[] }

const rules = {
  all: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
  /** The only rules whose result depends on the theme. */
  colors: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
}

/** Findings of axe by the rules of WCAG 2.2 AA, except minor ones. Evaluated independently of the page's content security policy. */
export async function axeViolations(page: Page, which: keyof typeof rules = 'all'): Promise<string[]> {
  await animationsEnd(page)
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe)
  const violations = await page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as {
      axe: { run: (context: Document, options: object) => Promise<{ violations: Violation[] }> }
    }
    return (await axe.run(document, { runOnly, resultTypes: ['violations'] })).violations
  }, rules[which])
  return violations
    .filter(({ impact }) => impact !== 'minor')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}

/** Fails if anything is wider than the screen after animations have ended. */
export async function assertFits(page: Page, name: string, widthMax: number): Promise<void> {
  await page.waitForFunction(() => document.getAnimations().every((one) => !(one instanceof CSSTransition)))
  for (const end = performance.now() + waitMs; ; await page.waitForTimeout(50)) {
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    if (width <= widthMax) return
    assert.ok(performance.now() < end, `${name} is ${width} wide on a screen of ${widthMax}`)
  }
}
