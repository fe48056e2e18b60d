// Interceptions end with their scope, and no test makes its own.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { openBrowser, skipWithoutBrowser } from './browser.ts'
import { answered, changed, held, intercept } from './intercept.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

it('no file makes a handler of requests itself', () => {
  const files = globSync('{portal/test,lab,bench}/**/*.ts', { cwd: root, exclude: ['**/node_modules/**'] })
  const own = files.filter(
    (file) =>
      file !== 'portal/test/intercept.ts' &&
      /\.(un)?route(All|FromHAR|WebSocket)?\(/.test(readFileSync(root + file, 'utf8')),
  )
  assert.deepEqual(own, [], 'use intercept of portal/test/intercept.ts')
})

describe('an interception', { skip: skipWithoutBrowser() }, () => {
  let browser: Browser
  before(async () => void (browser = await openBrowser()))
  after(() => browser?.close())

  const address = 'http://127.0.0.1:1/'
  const ask = (page: Page) =>
    page.evaluate((url) => fetch(url).then((answer) => answer.text(), String), address)
  const allowed = { headers: { 'access-control-allow-origin': '*' } }

  it('answers, counts, and is over at the end of its scope', async () => {
    const page = await browser.newPage()
    {
      await using one = await intercept(page, address, answered(1))
      await using two = await intercept(page, address, (route) => route.fallback())
      await page.goto(address)
      assert.deepEqual([await page.innerText('body'), one.count, two.count], ['1', 1, 1])
    }
    await assert.rejects(page.goto(address), /ERR_/)
    await page.close()
  })

  it('leaves no handler behind that answers a closed page or a request that went on without it', async () => {
    const page = await browser.newPage()
    const slow = await intercept(page, /127/, async (route, released) => {
      await released
      await route.fulfill({ ...allowed, body: 'late' })
    })
    await using start = await intercept(page, address, answered('page'))
    await page.goto(address)
    await start.stop()
    const failed = assert.rejects(ask(page))
    await slow.asked(1)
    await page.close()
    await failed
    await slow.stop()
  })

  it('holds requests until they are released', async () => {
    const page = await browser.newPage()
    await using _ = await intercept(page, address, (route) => route.fulfill({ ...allowed, body: 'done' }))
    await page.goto(address)
    await using waiting = await intercept(page, address, held)
    const answer = ask(page)
    await waiting.asked(1)
    waiting.release()
    assert.equal(await answer, 'done')
    await page.close()
  })

  it('throws the error of a reply at its end', async () => {
    const page = await browser.newPage()
    await using _ = await intercept(page, address, answered({}))
    await page.goto(address)
    const broken = await intercept(
      page,
      address,
      changed(
        () => assert.fail('the change is wrong'),
        () => 'http://127.0.0.1:1/none',
      ),
    )
    assert.match(await ask(page), /Failed to fetch/)
    await assert.rejects(broken.stop(), /ECONNREFUSED|wrong/)
    await page.close()
  })
})
