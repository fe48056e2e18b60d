// How smoothly a list of the portal scrolls from its first row to its last: the duration of each frame, and whether the
// page was ever busy long enough to delay a key or a click.
import type { Browser, Page } from 'playwright-core'
import { quantile } from '../../lab/src/measure.ts'
import type { Person } from './first-view.ts'

export type Scroll = {
  readonly rows: number
  readonly seconds: number
  readonly frameMsP50: number
  readonly frameMsP99: number
  readonly frameMsMax: number
  /** Time of the page's thread: the cost of a frame on an idle processor. */
  readonly processorMsPerFrame: number
  readonly longTasks: number
  readonly longestTaskMs: number
  /** Maximum number of elements in the page. */
  readonly elements: number
}

/** A long task of the Long Tasks API (W3C), in milliseconds. */
export const longTaskMs = 50

/** Scrolls by `step` pixels per frame, one wheel event in each; then waits until the last row is rendered. */
const scrollToEnd = `async (step) => {
  const view = document.querySelector('[data-list]')
  const frames = []
  let elements = 0
  let at = performance.now()
  const began = at
  while (view.scrollTop + view.clientHeight < view.scrollHeight - 1) {
    view.scrollTop += step
    await new Promise((resolve) => requestAnimationFrame(resolve))
    const now = performance.now()
    frames.push(now - at)
    at = now
    if (frames.length % 50 === 0) elements = Math.max(elements, document.querySelectorAll('*').length)
  }
  const seconds = (performance.now() - began) / 1000
  const last = view.querySelector('table').getAttribute('aria-rowcount')
  while (!view.querySelector('tr[aria-rowindex="' + last + '"] a')) await new Promise((resolve) => setTimeout(resolve, 50))
  return { frames, seconds, elements, rows: Number(last) - 1, tasks: globalThis.longTasks }
}`

const watchTasks = `
  globalThis.longTasks = []
  new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask' })
`

type Found = { frames: number[]; seconds: number; elements: number; rows: number; tasks: number[] }

export async function scrollList(browser: Browser, url: string, path: string, who: Person): Promise<Scroll> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    context.setDefaultTimeout(60_000)
    const page = await context.newPage()
    await signIn(page, url, path, who)
    await page.locator('[data-list] tr[aria-rowindex="2"] a').first().waitFor()
    await page.waitForTimeout(1_000)
    await page.evaluate(watchTasks)
    const busy = await processorTimeOf(page)
    const { frames, tasks, ...rest } = await page.evaluate<Found>(`(${scrollToEnd})(120)`)
    const processorMs = await busy()
    return {
      ...rest,
      processorMsPerFrame: processorMs / frames.length,
      frameMsP50: quantile(frames, 0.5),
      frameMsP99: quantile(frames, 0.99),
      frameMsMax: Math.max(...frames),
      longTasks: tasks.length,
      longestTaskMs: Math.max(0, ...tasks),
    }
  } finally {
    await context.close()
  }
}

/** Called again it returns the milliseconds that the page's thread has worked since. */
async function processorTimeOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const now = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return 1000 * metrics.find(({ name }) => name === 'TaskDuration')!.value
  }
  const start = await now()
  return async () => (await now()) - start
}

async function signIn(page: Page, url: string, path: string, { email, password }: Person): Promise<void> {
  await page.goto(`${url}/sign-in?to=${encodeURIComponent(path)}`)
  await page.fill('input[autocomplete=username]', email)
  await page.fill('input[autocomplete=current-password]', password)
  await page.click('button[type=submit]')
}
