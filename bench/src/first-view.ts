// The time until a browser has displayed a page, on a processor four times slower than this one, and the size of its
// downloads. Uses the page's own clock, which starts with the navigation or with a click.
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'

/** In milliseconds of the page's clock; requests since the navigation, and the compressed size of all that was transferred. */
export type View = {
  readonly ms: number
  readonly scriptBytes: number
  readonly bytes: number
  readonly requests: number
}

const throttlingRate = 4
const timeoutMs = 60_000

/** Runs in every page before its own scripts: records when something is first on the screen, and when it was clicked. */
const probe = `
  globalThis.viewedAt = (seen) => new Promise((resolve) => {
    const look = () => {
      if (!seen()) return requestAnimationFrame(look)
      // After the frame that shows it, whatever work the page still has then.
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now()), 0))
    }
    look()
  })
  addEventListener('click', () => { globalThis.clickedAt = performance.now() }, { capture: true })
`
const form = `(() => { const field = document.querySelector('input[autocomplete=username]'); return field && !field.disabled && document.querySelector('button[type=submit]') })`
const overview = `(() => {
  const main = document.querySelector('main')
  return main && [...main.querySelectorAll('h1')].some((one) => one.textContent === 'Overview') &&
    main.querySelectorAll('section').length > 1 && ![...main.querySelectorAll('.mantine-Skeleton-root, [aria-busy]')].some((one) => !one.closest('[data-later]'))
})`
const announcements = `(() => {
  const list = document.querySelector('[data-list]')
  return list && !list.querySelector('[aria-busy]') && list.querySelector('tr[aria-rowindex="2"] a')
})`

export type Person = { readonly email: string; readonly password: string }
export type Visit = {
  readonly form: View
  readonly overview: View
  readonly reload: View
  readonly announcements: View
}

/**
 * A browser with an empty cache: the form to sign in, the overview after the click, the overview loaded again; and the
 * announcements as the first page, signed in, with an empty cache again.
 */
export async function visit(browser: Browser, url: string, { email, password }: Person): Promise<Visit> {
  return inNewContext(browser, async (page, counted, session) => {
    await page.goto(`${url}/sign-in`, { waitUntil: 'commit' })
    const first = await viewed(page, form, counted)
    await page.fill('input[autocomplete=username]', email)
    await page.fill('input[autocomplete=current-password]', password)
    await page.waitForTimeout(1_000)
    await page.click('button[type=submit]')
    const after = await viewed(page, overview, counted)
    const clickedAt = await page.evaluate<number>('globalThis.clickedAt')
    await page.waitForTimeout(500)
    counted.reset()
    await page.reload({ waitUntil: 'commit' })
    const again = await viewed(page, overview, counted)
    await page.waitForTimeout(500)
    await page.goto('about:blank')
    await session.send('Network.clearBrowserCache')
    counted.reset()
    await page.goto(`${url}/announcements`, { waitUntil: 'commit' })
    const list = await viewed(page, announcements, counted)
    return {
      form: first,
      overview: { ...after, ms: after.ms - clickedAt },
      reload: again,
      announcements: list,
    }
  })
}

/** The form of another page, in a browser with an empty cache. */
export function visitForm(browser: Browser, url: string): Promise<View> {
  return inNewContext(browser, async (page, counted) => {
    await page.goto(url, { waitUntil: 'commit' })
    return viewed(page, form, counted)
  })
}

async function viewed(page: Page, seen: string, counted: Counted): Promise<View> {
  const ms = await page.evaluate<number>(`viewedAt(${seen})`)
  const { scriptBytes, bytes, requests } = counted
  return { ms, scriptBytes, bytes, requests }
}

async function inNewContext<T>(
  browser: Browser,
  use: (page: Page, counted: Counted, session: CDPSession) => Promise<T>,
): Promise<T> {
  const context: BrowserContext = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  try {
    context.setDefaultTimeout(timeoutMs)
    await context.addInitScript({ content: probe })
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate: throttlingRate })
    return await use(page, await count(session), session)
  } finally {
    await context.close()
  }
}

type Counted = { scriptBytes: number; bytes: number; requests: number; reset(): void }

/** The compressed size that is transferred; 0 for files from the browser's cache. */
async function count(session: CDPSession): Promise<Counted> {
  await session.send('Network.enable')
  const scripts = new Set<string>()
  const counted: Counted = {
    scriptBytes: 0,
    bytes: 0,
    requests: 0,
    reset() {
      counted.scriptBytes = counted.bytes = counted.requests = 0
    },
  }
  session.on('Network.responseReceived', ({ requestId, type, response }) => {
    counted.requests++
    if (type === 'Script' && !response.fromDiskCache) scripts.add(requestId)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    counted.bytes += encodedDataLength
    if (scripts.has(requestId)) counted.scriptBytes += encodedDataLength
  })
  return counted
}
