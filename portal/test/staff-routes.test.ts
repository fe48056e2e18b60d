// What staff see of routes: routers that regions no longer have, with what can be done about them.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { giveUpFormerRouterRoute, listFormerRoutersRoute } from '@pharos/contract/former-router'
import type { Browser } from 'playwright-core'
import { openBrowser, openExample, skipWithoutBrowser } from './browser.ts'
import { exampleOf, staff, startExampleServer, type ExampleServer } from './example-server.ts'

describe('routes for staff', { skip: skipWithoutBrowser() }, () => {
  let browser: Browser
  let server: ExampleServer
  before(async () => {
    server = await startExampleServer()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })

  it('name former routers with the routes that are left, and give one up after a question', async () => {
    server.reset()
    server.user = staff
    const [read] = exampleOf(listFormerRoutersRoute).results
    const unread = { ...read!, id: 4, name: 'fra4', last_check: null, error: null, routes: 1200 }
    let routers = [read!, unread]
    server.answer(listFormerRoutersRoute, () => ({ results: routers, count: routers.length }))
    server.answer(giveUpFormerRouterRoute, ({ params }) => {
      const given = routers.find(({ id }) => id === Number(params.former_router_id))
      routers = routers.filter((one) => one !== given)
      return { ...given!, routes: 0 }
    })
    await using person = await openExample(browser, server.url)
    const { page, pageErrors } = person
    await page.goto(`${server.url}/staff/regions`)
    const section = page.getByRole('region', { name: 'Former routers' })
    const row = section.getByRole('row').filter({ hasText: 'fra3' })
    await row.getByRole('cell', { name: '12', exact: true }).waitFor()
    await row.getByText('gobgp 192.0.2.7:50051 64500:1:1').waitFor()
    await row.getByText('gobgpd at 192.0.2.7:50051: no connection').waitFor()
    assert.equal(await row.locator('time').first().getAttribute('datetime'), read!.since)
    const other = section.getByRole('row').filter({ hasText: 'fra4' })
    await other.getByRole('cell', { name: 'Up to 1,200', exact: true }).waitFor()
    await other.getByRole('cell', { name: 'Never', exact: true }).waitFor()
    await row.getByRole('button', { name: 'Give up former router fra3 of fra' }).click()
    const dialog = page.getByRole('dialog', { name: 'Give up former router fra3 of fra?' })
    await dialog.getByText('Its 12 routes count as withdrawn.').waitFor()
    await dialog.getByRole('button', { name: 'Give up', exact: true }).click()
    await row.waitFor({ state: 'detached' })
    assert.deepEqual(
      server.asked(giveUpFormerRouterRoute).map(({ params }) => Number(params.former_router_id)),
      [read!.id],
    )
    routers = []
    await section.waitFor({ state: 'detached' })
    assert.deepEqual(pageErrors, [])
  })
})
