// The first run in the portal: from an empty database to a region in which customers can announce prefixes, without a command and a file.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { buildPortal } from '../../scripts/build-portal.mjs'
import { createTestDatabase, type TestDatabase } from '../../server/src/db/testing.ts'
import { ServerProcess } from '../../server/test/support/server-process.ts'
import { assertFits, axeViolations } from './accessibility.ts'
import {
  animationsEnd,
  openBrowser,
  openPerson,
  settled,
  shoot,
  skipWithoutBrowser,
  until,
} from './browser.ts'

const password = 'seven unlikely words of mine'

async function look(page: Page, name: string): Promise<void> {
  await settled(page)
  assert.deepEqual(await axeViolations(page), [])
  for (const [width, height] of [
    [390, 844],
    [1440, 900],
  ] as const) {
    await page.setViewportSize({ width, height })
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      await animationsEnd(page)
      await shoot(page, `setup-${name}-${width}-${theme}`)
    }
    await assertFits(page, name, width)
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

const input = (page: Page, field: string) =>
  page.locator(`[data-field=${field}] input:not([type=hidden])`).first()

async function pick(page: Page, field: string, option: string): Promise<void> {
  await input(page, field).click()
  await page.getByRole('option', { name: option }).first().click()
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

describe('the first run', { skip: skipWithoutBrowser() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'pharos-setup-'))
  let database: TestDatabase
  let server: ServerProcess
  let browser: Browser
  before(async () => {
    await buildPortal()
    database = await createTestDatabase()
    server = await ServerProcess.create({
      folder,
      settings: {
        DATABASE_URL: database.databaseUrl,
        PHAROS_SECRET: randomBytes(32).toString('hex'),
        PHAROS_DATA_DIR: folder,
        PHAROS_RECONCILE_INTERVAL_SECONDS: '1',
      },
    })
    await server.start()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await server?.kill('SIGTERM')
    await database?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  it('leads from the sign-in to a connected router, and says what is left', async () => {
    const { context, page, pageErrors } = await openPerson(browser, server.url)
    await page.goto(`${server.url}/sign-in`)
    assert.equal(new URL(page.url()).pathname, '/setup')
    await look(page, '1-account')
    const code = /setup_code"?[:=] ?"?((?:[a-z2-7]{5}-){3}[a-z2-7]{5})/.exec(server.lastOutput)?.[1]
    assert.ok(code, server.lastOutput)
    await page.goto('about:blank')
    await page.goto(`${server.url}/setup#${code}`)
    assert.equal(await input(page, 'code').inputValue(), code)
    assert.equal(new URL(page.url()).hash, '')
    await input(page, 'provider').fill('Example Net')
    await input(page, 'email').fill('ann@net.example')
    await input(page, 'password').fill('example net 1234')
    await press(page, 'Create account')
    await page.locator('[data-field-error]').first().waitFor()
    await look(page, '1-account-weak')
    await input(page, 'password').fill(password)
    await press(page, 'Create account')

    await page.getByRole('heading', { name: 'Set up', level: 1 }).waitFor()
    await input(page, 'asn').fill('64500')
    await input(page, 'support').fill('noc@net.example')
    await page.locator('input[type=file]').setInputFiles({
      name: 'logo.svg',
      mimeType: 'image/svg+xml',
      buffer: Buffer.from(
        '\uFEFF<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">\r\n<circle cx="16" cy="16" r="14" fill="#0f766e"/></svg>',
      ),
    })
    await look(page, '2-provider')
    await press(page, 'Save and continue')

    await input(page, 'address').waitFor()
    await look(page, '3-router')
    await pick(page, 'kind', 'Simulated')
    await input(page, 'name').fill('Amsterdam')
    await input(page, 'slug').focus()
    await until('the short name', async () =>
      assert.equal(await input(page, 'slug').inputValue(), 'amsterdam'),
    )
    await pick(page, 'country', 'Netherlands')
    await press(page, 'Connect router')
    await page.locator('[data-element=amsterdam]').getByText('Connected').waitFor()
    await look(page, '3-router-connected')
    await press(page, 'Continue')

    await input(page, 'key').waitFor()
    await pick(page, 'kind', 'Prometheus Alertmanager')
    await until('the key of the kind', async () =>
      assert.equal(await input(page, 'key').inputValue(), 'alertmanager'),
    )
    await look(page, '4-detector')
    await press(page, 'Add detector')
    await page.getByRole('button', { name: 'Show secret' }).waitFor()
    await look(page, '4-detector-added')
    await press(page, 'Show secret')
    const secret = await page.locator('[data-secret]').getAttribute('data-secret')
    const delivery = await fetch(`${server.url}/v3/ingest/events/alertmanager`, {
      method: 'POST',
      headers: { authorization: `Token ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ version: '4', alerts: [] }),
    })
    assert.ok(delivery.status < 300, `${delivery.status}`)
    await press(page, 'Continue')

    await input(page, 'address').waitFor()
    await look(page, '5-device')
    await press(page, 'Skip')
    await page.getByRole('heading', { name: 'What is left' }).waitFor()
    await look(page, '6-finished')
    await page.getByRole('link', { name: 'Open the overview' }).click()
    await page.getByRole('heading', { name: 'Provider overview' }).waitFor()
    const left = page.getByRole('region', { name: 'What is left' })
    assert.deepEqual(
      await left.locator('[data-done]').evaluateAll((rows) => rows.map((row) => row.dataset['step'])),
      ['provider', 'region', 'detector'],
    )
    await look(page, '7-overview')
    await left.getByRole('button', { name: 'Hide' }).click()
    await left.waitFor({ state: 'detached' })

    // What a person without an account finds now.
    await using guest = await openPerson(browser, server.url)
    await guest.page.goto(`${server.url}/setup`)
    await guest.page.getByText('This installation is set up').waitFor()
    await guest.page.goto(server.url)
    await guest.page.getByRole('heading', { name: 'Sign in' }).waitFor()
    assert.ok(await guest.page.getByText('Example Net').first().isVisible())
    // The weak password was refused.
    const expected = /\/setup: .* 422 /
    assert.deepEqual([...pageErrors.filter((one) => !expected.test(one)), ...guest.pageErrors], [])
    await context.close()
  })

  it('edits the settings of a router as fields, those of its kind', async () => {
    const { context, page, pageErrors } = await openPerson(browser, server.url)
    await page.goto(`${server.url}/sign-in?to=/staff/platform/regions`)
    await input(page, 'email').fill('ann@net.example')
    await input(page, 'password').fill(password)
    await press(page, 'Sign in')
    await page.locator('[data-list]').getByText('amsterdam', { exact: true }).first().click()
    await page.locator('[data-panel]').getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    const speaker = dialog.locator('[data-field=speaker]')
    await speaker.getByLabel('Kind').click()
    await page.getByRole('option', { name: 'gobgp' }).click()
    await speaker.getByLabel('Next hop IPv4').fill('192.0.2.1')
    await speaker.getByLabel('Owner').fill('not a community')
    await speaker.getByLabel('Address').fill('127.0.0.1:50051')
    await look(page, '8-speaker')
    await dialog.getByRole('button', { name: 'Review plan' }).click()
    await speaker.getByText(/owner must be a large community/i).waitFor()
    await speaker.getByLabel('Owner').fill('64500:1:1')
    await dialog.getByRole('button', { name: 'Review plan' }).click()
    await dialog.getByText('192.0.2.1').waitFor()
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.reload()
    await page.locator('[data-panel]').getByText('127.0.0.1:50051').first().waitFor()
    assert.deepEqual(
      pageErrors.filter((one) => !/ 422 /.test(one)),
      [],
    )
    await context.close()
  })
})
