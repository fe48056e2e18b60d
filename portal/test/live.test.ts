// Live updates in every tab of the browser, over one connection.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { listIncidentsRoute } from '@pharos/contract/events/incident'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { openBrowser, openExample, signIn, skipWithoutBrowser, until } from './browser.ts'
import { exampleOf, pageOf, startExampleServer, type ExampleServer } from './example-server.ts'
import { held, intercept } from './intercept.ts'

describe('the portal, live', { skip: skipWithoutBrowser() }, () => {
  let browser: Browser
  let server: ExampleServer
  let context: BrowserContext
  let pageErrors: string[]
  before(async () => {
    server = await startExampleServer()
    browser = await openBrowser()
    ;({ context, pageErrors } = await openExample(browser, server.url))
  })
  after(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  /** Pages that requested the stream. */
  const asked = new Set<Page>()
  async function openPage(path: string): Promise<Page> {
    const page = await context.newPage()
    page.on('request', (request) => {
      if (request.url() === `${server.url}/v3/stream`) asked.add(page)
    })
    await page.goto(server.url + path)
    return page
  }

  const isLive = (page: Page) =>
    page.getByRole('status', { name: 'Updates' }).getByText('Live', { exact: true })

  const attacks = [...exampleOf(listIncidentsRoute).results]
  /** A new attack, starting now. */
  function attack(ip: string): void {
    const started = { network: `${ip}/32`, start: new Date().toISOString(), end: null }
    attacks.unshift({ ...attacks[0]!, ...started, id: `attack${attacks.length}` })
    server.answer(listIncidentsRoute, (asked) => pageOf(attacks, asked))
    server.send('incident.started', attacks[0])
  }

  it('shows an attack in every tab over one connection, and reconnects when its tab is closed', async () => {
    const leading = await openPage('/events')
    await isLive(leading).waitFor()
    const second = await openPage('/')
    await isLive(second).waitFor()
    assert.deepEqual([asked.has(leading), asked.has(second)], [true, false])
    attack('203.0.113.80')
    for (const page of [leading, second]) await page.getByText('New attack on 203.0.113.80').waitFor()
    await leading.getByRole('row').filter({ hasText: '203.0.113.80' }).first().waitFor()

    await leading.close()
    await second.waitForResponse((response) => response.url() === `${server.url}/v3/stream`)
    attack('203.0.113.81')
    await second.getByText('New attack on 203.0.113.81').waitFor()
    // The notification closes by itself: a click that waits until it stands still may be too late.
    await second.getByRole('button', { name: 'View attack' }).first().dispatchEvent('click')
    await second.waitForURL(/\/events\/\w+/)
    assert.deepEqual(pageErrors, [])
    await second.close()
  })

  it('requests nothing twice on a cold page, and what a message is about once more', async () => {
    const page = await context.newPage()
    const requests: string[] = []
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (request.method() === 'GET' && pathname.startsWith('/v3/')) requests.push(pathname + search)
    })
    await page.goto(server.url)
    await isLive(page).waitFor()
    await page.locator('[data-panel=regions]').scrollIntoViewIfNeeded()
    await page.getByRole('heading', { name: 'Regions' }).waitFor()
    const cold = requests.length
    // Answers that the connection alone would have invalidated have been requested again by then.
    attack('203.0.113.82')
    await page.getByText('New attack on 203.0.113.82').waitFor()
    await until('the attacks to be requested again', async () => {
      assert.ok(requests.slice(cold).some((path) => path.includes('/incidents')))
    })
    const repeated = requests.filter((path, at) => requests.indexOf(path) < at)
    assert.ok(cold > 10)
    assert.deepEqual(
      repeated.filter((path) => !path.startsWith('/v3/lighthouse/')),
      [],
    )
    assert.deepEqual(pageErrors, [])
    await page.close()
  })

  it('lists an attack of two detectors once, and has both reports on its page', async () => {
    const page = await openPage('/events')
    const row = page.getByRole('row').filter({ hasText: '2 detectors' }).first()
    await row.getByRole('link').first().click()
    const reports = page.getByRole('region', { name: 'Reports' })
    await reports.getByText(/^Reported by 2 detectors in 2 events/).waitFor()
    assert.equal(await reports.getByRole('row').count(), 3)
    assert.deepEqual(pageErrors, [])
    await page.close()
  })

  it('says in a new tab that the stream is not connected', async () => {
    // The first attempt fails, the next gets no answer.
    let isFirst = true
    await using stream = await intercept(context, '**/v3/stream', async (route, released) => {
      if (!isFirst) return held(route, released)
      isFirst = false
      await route.abort()
    })
    const leading = await openPage('/')
    const isLost = (page: Page) => page.getByRole('status', { name: 'Updates' }).getByText('Reconnecting')
    await isLost(leading).waitFor()
    await stream.asked(2)
    const second = await openPage('/')
    await isLost(second).waitFor()
    assert.ok(pageErrors.splice(0).every((error) => error.includes('net::ERR_FAILED')))
    for (const page of [leading, second]) await page.close()
  })

  it('stops following on sign-out, and follows again after the next sign-in', async () => {
    const page = await openPage('/announcements')
    await isLive(page).waitFor()
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await signIn(page, server.url, 'demo@demo.example')
    await isLive(page).waitFor()
    assert.deepEqual(pageErrors, [])
    await page.close()
  })
})
