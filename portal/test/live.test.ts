// Live updates in every tab of the browser, over one connection.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { openBrowser, shoot, signIn, skipWithoutBrowser, waitMs, watch } from './browser.ts'
import { ban, Demo } from './demo.ts'

describe('the portal, live', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo()
  let browser: Browser
  let context: BrowserContext
  let pageErrors: string[]
  before(async () => {
    ;[browser] = await Promise.all([openBrowser(), demo.start()])
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
    context.setDefaultTimeout(waitMs)
    pageErrors = watch(context, demo.url)
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  /** Pages that requested the stream. */
  const asked = new Set<Page>()
  async function openPage(path: string): Promise<Page> {
    const page = await context.newPage()
    page.on('request', (request) => {
      if (request.url() === `${demo.url}/v3/stream`) asked.add(page)
    })
    await page.goto(demo.url + path)
    return page
  }

  const isLive = (page: Page) =>
    page.getByRole('status', { name: 'Updates' }).getByText('Live', { exact: true })

  /** A new attack on an address of the demo team, starting now. */
  const attack = (ip: string) =>
    demo.post(
      '/v3/ingest/events/fastnetmon',
      {
        ...ban,
        ip,
        attack_details: {
          ...ban.attack_details,
          attack_uuid: randomUUID(),
        },
      },
      'Token demo-secret',
    )

  it('shows an attack in every tab over one connection, and reconnects when its tab is closed', async () => {
    const first = await context.newPage()
    await signIn(first, demo.url, 'demo@demo.example')
    await first.close()
    const leading = await openPage('/events')
    await isLive(leading).waitFor()
    const second = await openPage('/')
    await isLive(second).waitFor()
    assert.deepEqual([asked.has(leading), asked.has(second)], [true, false])
    await attack('203.0.113.80')
    for (const page of [leading, second]) await page.getByText('New attack on 203.0.113.80').waitFor()
    await leading.getByRole('row').filter({ hasText: '203.0.113.80' }).first().waitFor()
    await shoot(leading, 'events-new-attack')

    await leading.close()
    await second.waitForResponse((response) => response.url() === `${demo.url}/v3/stream`, {
      timeout: 120_000,
    })
    await attack('203.0.113.81')
    await second.getByText('New attack on 203.0.113.81').waitFor()
    await second.getByRole('button', { name: 'View attack' }).first().click()
    await second.waitForURL(/\/events\/\w+/)
    assert.deepEqual(pageErrors, [])
    await second.close()
  })

  it('says in a new tab that the stream is not connected', async () => {
    // The first attempt fails, the next gets no answer.
    const { promise: again, resolve } = Promise.withResolvers<void>()
    let failed: Promise<void> | undefined
    await context.route('**/v3/stream', (route) => {
      if (failed) resolve()
      else failed = route.abort()
    })
    const leading = await context.newPage()
    await signIn(leading, demo.url, 'demo@demo.example')
    const isLost = (page: Page) => page.getByRole('status', { name: 'Updates' }).getByText('Reconnecting')
    await isLost(leading).waitFor()
    await again
    const second = await openPage('/')
    await isLost(second).waitFor()
    assert.ok(pageErrors.splice(0).every((error) => error.includes('net::ERR_FAILED')))
    for (const page of [leading, second]) await page.close()
    await context.unroute('**/v3/stream')
  })

  it('stops following on sign-out, and follows again after the next sign-in', async () => {
    const page = await openPage('/announcements')
    await isLive(page).waitFor()
    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await signIn(page, demo.url, 'demo@demo.example')
    await isLive(page).waitFor()
    assert.deepEqual(pageErrors, [])
    await page.close()
  })
})
