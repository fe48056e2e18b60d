// Controls Debian's Chromium, and records errors and forbidden requests on every page that it opens.
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from 'playwright-core'

/** The shell, which has no window, takes a quarter less processor time; a developer's machine may have the browser alone. */
const [shell, whole] = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const
const executablePath = process.env['PHAROS_TEST_CHROMIUM'] ?? [shell, whole].find(existsSync) ?? shell

/** For the `skip` of tests that need the browser: false if it is installed, otherwise the reason. */
export function skipWithoutBrowser(): string | false {
  try {
    accessSync(executablePath, constants.X_OK)
    return false
  } catch {
    return process.env['PHAROS_TEST_REQUIRE_PEERS'] === '1'
      ? false
      : 'chromium-headless-shell is not installed'
  }
}

/** No requests to other hosts: Chromium's own background requests are disabled. */
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const openBrowser = (): Promise<Browser> => chromium.launch({ executablePath, args: quiet })

/**
 * Chromium interrupts requests when an interface of the machine changes, as the lab's tests do it, and a server that is overloaded answers 503.
 * The page asks again; what it then lacks fails the test.
 */
const passing = /net::ERR_NETWORK_CHANGED|status of 503/

/** Problems on the pages of a context: console errors, script errors, and requests to other hosts. */
export function watch(context: BrowserContext, origin: string): string[] {
  const pageErrors: string[] = []
  context.on('page', (page) => {
    page.on('console', (message) => {
      if (message.type() === 'error' && !passing.test(message.text()))
        pageErrors.push(`${page.url()}: ${message.text()}`)
    })
    page.on('pageerror', (error) => pageErrors.push(`${page.url()}: ${error.message}`))
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(origin) && !url.startsWith('blob:'))
        pageErrors.push(`request to another host: ${url}`)
    })
  })
  return pageErrors
}

const shots = fileURLToPath(new URL('../screenshots/', import.meta.url))

/** For manual review, with PHAROS_TEST_SCREENSHOTS; the folder is not committed. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (process.env['PHAROS_TEST_SCREENSHOTS'] === undefined) return
  mkdirSync(shots, { recursive: true })
  await page.screenshot({ path: `${shots}${name}.png`, fullPage: false })
}

/** Waits until the page shows no loading state. The stream never ends, so the network is never idle. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1, [role=alert]').first().waitFor()
  await page.locator('.mantine-Skeleton-root, [aria-busy=true]').first().waitFor({ state: 'detached' })
  await animationsEnd(page)
}

/** Waits until all finite animations have ended. */
export async function animationsEnd(page: Page): Promise<void> {
  await page.evaluate(`Promise.all(document.getAnimations()
    .filter((one) => one.effect?.getComputedTiming().endTime !== Infinity)
    .map((one) => one.finished.catch(() => {}))).then(() => undefined)`)
}

/** Navigates as a link does: reloading the whole portal for each page would take longer than the tests. */
export async function visit(page: Page, place: string): Promise<void> {
  await page.evaluate((href) => {
    const { __TSR_ROUTER__: router } = globalThis as unknown as {
      __TSR_ROUTER__: { navigate: (to: object) => Promise<void> }
    }
    return router.navigate({ href, ignoreBlocker: true })
  }, place)
  await settled(page)
}

/** Time limit of a wait: half of that of a test, so that a test that waits in vain says for what. No state takes so long. */
export const waitMs = 300_000

export const demoPassword = 'pharos-demo-password'

export async function signIn(page: Page, url: string, email: string, password = demoPassword): Promise<void> {
  await page.goto(`${url}/sign-in`)
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('textbox', { name: 'Password' }).fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
}

export type Person = {
  readonly context: BrowserContext
  readonly page: Page
  readonly pageErrors: string[]
  /** Closes the context. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens a separate browser context, signed in if an address is given, and records its problems. */
export async function openPerson(
  browser: Browser,
  url: string,
  email?: string,
  options: BrowserContextOptions = {},
): Promise<Person> {
  const person = await openGuest(browser, url, options)
  if (email) await signIn(person.page, url, email)
  return person
}

/** Opens a separate browser context with a session of the example server. */
export async function openExample(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Person> {
  const person = await openGuest(browser, url, options)
  await person.context.addCookies([{ name: 'pharos-signed-in', value: 'yes', url }])
  return person
}

async function openGuest(browser: Browser, url: string, options: BrowserContextOptions): Promise<Person> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(waitMs)
  const pageErrors = watch(context, url)
  const page = await context.newPage()
  return { context, page, pageErrors, [Symbol.asyncDispose]: () => context.close() }
}

/** Repeats the check until it passes; after the limit it throws the last failure with `what`. */
export async function until(
  what: string,
  check: () => Promise<unknown>,
  limitMs: number = waitMs,
): Promise<void> {
  for (const end = performance.now() + limitMs; ; await sleep(100)) {
    try {
      return void (await check())
    } catch (cause) {
      if (performance.now() > end) throw new Error(`waited for ${what}: ${String(cause)}`, { cause })
    }
  }
}
