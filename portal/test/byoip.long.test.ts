// Adding a prefix in the portal, from the verification of the ASN to a restored announcement; the profile; and conditions
// that prevent a page: a rate limit, a missing second factor, a disabled module, a server out of reach.
import assert from 'node:assert/strict'
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { TOTP } from 'otpauth'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { assertFits, axeViolations } from './accessibility.ts'
import {
  demoPassword,
  openBrowser,
  openPerson,
  settled,
  shoot,
  skipWithoutBrowser,
  waitMs,
} from './browser.ts'
import { Demo } from './demo.ts'
import { changed, intercept, lost, refused } from './intercept.ts'

const demoFile = (name: string): string => fileURLToPath(new URL(`../../demo/${name}`, import.meta.url))

/** Files of this test that act as the registries. */
const registries = mkdtempSync(join(tmpdir(), 'pharos-registries-'))
const routes = join(registries, 'routes.rpsl')
const roas = join(registries, 'vrps.json')
copyFileSync(demoFile('routes.rpsl'), routes)
copyFileSync(demoFile('vrps.json'), roas)
appendFileSync(
  routes,
  '\naut-num:        AS64510\nas-name:        ACME-AS\nmnt-by:         ACME-MNT\nsource:         RIPE\n',
)

/** A letter as an image: the smallest PNG. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('adding a prefix in the portal', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo({
    settings: {
      PHAROS_IRR_SOURCES: pathToFileURL(routes).href,
      PHAROS_RPKI_SOURCES: pathToFileURL(roas).href,
    },
  })
  let browser: Browser
  before(async () => {
    await demo.start()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
    rmSync(registries, { recursive: true, force: true })
  })

  const person = (email?: string, options?: BrowserContextOptions) =>
    openPerson(browser, demo.url, email, options)

  /** Calls the API outside of the browser, as the same user. */
  async function api(email: string, path: string, init: { method?: string; body?: object } = {}) {
    const sent = { email, password: demoPassword }
    const { access } = (await ask('/v3/session/token', { method: 'POST', body: sent })) as { access: string }
    return ask(path, init, access)
  }

  async function ask(path: string, init: { method?: string; body?: object }, bearer?: string) {
    const response = await fetch(demo.url + path, {
      method: init.method ?? 'GET',
      headers: {
        'content-type': 'application/json',
        ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
      },
      ...(init.body ? { body: JSON.stringify(init.body) } : {}),
    })
    const text = await response.text()
    assert.ok(response.ok, `${path}: ${response.status} ${text}`)
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  }

  /** Changes the registry, and waits until the server has read it, which marker objects in the change show. */
  async function publish(change: (text: string) => string): Promise<void> {
    // Answers are cached for a while, so each query is a new one.
    const markers = Array.from({ length: 120 }, (_, at) => `198.19.${at}.0/24`)
    const objects = markers.map(
      (marker) =>
        `\nroute:          ${marker}\norigin:         AS64496\nmnt-by:         DEMO-MNT\nsource:         DEMO\n`,
    )
    writeFileSync(routes, change(readFileSync(routes, 'utf8')) + objects.join(''))
    const sent = { email: 'demo@demo.example', password: demoPassword }
    const { access } = (await ask('/v3/session/token', { method: 'POST', body: sent })) as { access: string }
    for (const cidr of markers) {
      const body = { cidr, origin_asn: 64_496 }
      const { result } = (await ask(
        '/v3/ipam/announcements?dry_run=true',
        { method: 'POST', body },
        access,
      )) as {
        result: { results: { validations: { name: string; state: string }[] }[] }
      }
      if (result.results[0]!.validations.some(({ name, state }) => name === 'irr' && state === 'valid'))
        return
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    assert.fail('the registry is not read again')
  }

  /** Error statuses that a test causes on purpose; the browser logs each of them. */
  const without = (pageErrors: readonly string[], ...statuses: number[]) =>
    pageErrors.filter((one) => !statuses.some((status) => one.includes(`status of ${status}`)))

  it('selects rows, also a range of them, and lists what an action could not change', async () => {
    const { context, page } = await person('demo@demo.example')
    await page.goto(`${demo.url}/announcements`)
    await settled(page)
    const boxes = page.locator('tbody').getByRole('checkbox', { name: 'Select row' })
    await boxes.nth(0).click()
    await boxes.nth(3).click({ modifiers: ['Shift'] })
    const bar = page.getByRole('region', { name: 'Selected rows' })
    await bar.getByText('4 selected').waitFor()
    await bar.getByRole('button', { name: /^Select all/ }).click()
    await bar.getByText('11 selected').waitFor()
    await bar.getByRole('button', { name: 'Announce', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Announce 11 prefixes?' })
    await dialog.getByText(/cannot be changed and will be skipped/).waitFor()
    await dialog.getByText('198.18.67.0/24').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await bar.getByRole('button', { name: 'Clear selection' }).click()
    await boxes.nth(0).click()
    await bar.getByRole('button', { name: 'Check again' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Check again' }).click()
    await page.getByRole('dialog').getByText('1 succeeded').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await bar.waitFor({ state: 'detached' })
    await context.close()
  })

  it('leads from a prefix with an unverified ASN to its verification, and back to the prefix', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/announcements/new`)
    await page.getByLabel('Prefix', { exact: true }).fill('198.18.100.7/24')
    await page.getByLabel('Origin AS').fill('64510')
    await page.getByRole('button', { name: 'Run checks' }).click()
    await page.getByRole('button', { name: '198.18.100.0/24' }).click()
    await page.getByRole('button', { name: 'Run checks' }).click()
    await page.getByText('AS64510 is not verified', { exact: true }).waitFor()
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('link', { name: 'Verify AS64510' }).click()

    const object = page.getByRole('region', { name: 'Aut-num object' })
    const line = (await object.locator('pre').innerText()).trim()
    assert.match(line, /^remarks: +pharos-asn-verify=[\w-]{24}$/)
    await shoot(page, 'asn-to-prove')
    await publish((text) => text.replace(/^aut-num: +AS64510$/m, `$&\n${line}`))
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByText('Verified by aut-num').first().waitFor()
    await object.getByText('Verified · ').waitFor()
    await settled(page)
    await shoot(page, 'asn-proven')
    assert.deepEqual(await axeViolations(page), [])

    // The page displays the server's rate limit and counts down.
    await page.getByRole('button', { name: 'Check now' }).click()
    const wait = page.getByRole('button', { name: /^Check again in \d+ s$/ })
    await wait.waitFor()
    assert.ok(await wait.isDisabled())

    await page.getByRole('link', { name: 'Continue with 198.18.100.0/24' }).click()
    await page.getByRole('button', { name: 'Run checks' }).click()
    await page.getByRole('region', { name: 'ROA (RPKI)' }).getByText('maxLength: 24').waitFor()
    await page
      .getByRole('region', { name: 'Route object (IRR)' })
      .getByText('route:          198.18.100.0/24')
      .waitFor()
    await shoot(page, 'preflight')
    await page.getByRole('button', { name: 'Add prefix' }).click()
    await page.getByRole('heading', { name: '198.18.100.0/24' }).waitFor()
    await page.getByText(/Waits for you: route object, ROA, letter of authorization/).waitFor()
    await page.getByText(/^Blocked: \d checks$/).waitFor()
    assert.deepEqual(without(pageErrors, 422, 429), [])
    await context.close()
  })

  it('adds several prefixes at once, with the checks of each', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/announcements/new`)
    await page.getByLabel('Prefix', { exact: true }).fill('198.18.104.0/24\n198.18.105.9/24\n198.18.106.7/24')
    await page.getByLabel('Origin AS').fill('64496')
    await page.getByRole('button', { name: 'Run checks' }).click()
    await page.getByText(/^198\.18\.105\.9\/24: .*; 198\.18\.106\.7\/24: /).waitFor()
    await page.getByRole('button', { name: 'Correct all 2' }).click()
    await page.getByRole('button', { name: 'Run checks' }).click()
    const checks = page.getByRole('region', { name: 'Check results' })
    await checks.getByRole('button', { name: /^198\.18\.106\.0\/24/ }).click()
    await checks.getByRole('region', { name: 'ROA (RPKI)' }).getByText('198.18.106.0/24').waitFor()
    await settled(page)
    await shoot(page, 'preflight-several')
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('button', { name: 'Add all 3 prefixes' }).click()
    for (const prefix of ['198.18.104.0/24', '198.18.105.0/24', '198.18.106.0/24'])
      await page.getByRole('link', { name: prefix }).waitFor()
    assert.deepEqual(without(pageErrors, 422), [])
    await context.close()
  })

  it('uploads a letter that is dropped, and shows the provider’s review', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/announcements?cidr=198.18.100.9`)
    await page.getByRole('link', { name: '198.18.100.0/24' }).click()
    await page.getByRole('link', { name: 'Upload letter' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download draft' }).click()
    const dialog = page.getByRole('dialog', { name: 'Download a draft letter' })
    await dialog.getByLabel('Contact').fill('noc@demo.example')
    await settled(page)
    assert.deepEqual(await axeViolations(page), [])
    await dialog.getByRole('button', { name: 'Download draft' }).click()
    assert.equal((await download).suggestedFilename(), 'letter-198.18.100.0-24.pdf')
    const file = await page.evaluateHandle((bytes) => {
      const transfer = new DataTransfer()
      const content = Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))
      transfer.items.add(new File([content], 'unsigned.png', { type: 'image/png' }))
      return transfer
    }, png.toString('base64'))
    await page.locator('[data-drop]').dispatchEvent('drop', { dataTransfer: file })
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    const row = page.getByRole('row').filter({ hasText: 'unsigned.png' })
    await row.getByText('In review').waitFor()
    // A letter that was sent is with the provider.
    await page.getByText(/for your provider: letter of authorization/).waitFor()
    await seesPicture('unsigned.png')
    await decide('unsigned.png', 'reject', { reason: 'The signature is missing.' })
    await row.getByText('Rejected').waitFor()
    await row.getByText('The signature is missing.').waitFor()
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'by-hand.png', mimeType: 'image/png', buffer: png })
    await page.getByRole('button', { name: 'Upload', exact: true }).click()
    await page.getByRole('row').filter({ hasText: 'by-hand.png' }).getByText('In review').waitFor()
    await decide('by-hand.png', 'accept', {})
    await page.getByRole('row').filter({ hasText: 'by-hand.png' }).getByText('Accepted').waitFor()
    await row.scrollIntoViewIfNeeded()
    await settled(page)
    await shoot(page, 'letters')
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('tab', { name: /^History/ }).click()
    await page.getByText('Letter rejected').waitFor()
    await page.getByText('Dana Demo').first().waitFor()
    await settled(page)
    await shoot(page, 'history')
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  /** Staff read a letter without opening its file. */
  async function seesPicture(filename: string) {
    const { context, page, pageErrors } = await person('staff@demo.example')
    await page.goto(`${demo.url}/staff/letters`)
    await page.getByRole('row').filter({ hasText: filename }).getByRole('link').first().click()
    const picture = page.getByRole('img', { name: `Page 1 of ${filename}` })
    await picture.waitFor()
    await page.waitForFunction(
      (image) => (image as HTMLImageElement).naturalWidth > 0,
      await picture.elementHandle(),
    )
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(pageErrors, [])
    await context.close()
  }

  /** The review of the letter by staff. */
  async function decide(filename: string, decision: 'accept' | 'reject', body: object): Promise<void> {
    const path = '/v3/admin/letters?status=pending_review'
    const { results } = (await api('staff@demo.example', path)) as {
      results: { id: number; filename: string }[]
    }
    const letter = results.find((one) => one.filename === filename)
    assert.ok(letter, `${filename} does not wait`)
    await api('staff@demo.example', `/v3/admin/letters/${letter.id}/${decision}`, { method: 'POST', body })
  }

  it('announces once the missing objects are in the registries', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/announcements?cidr=198.18.100.9`)
    await page.getByRole('link', { name: '198.18.100.0/24' }).click()
    const literal = (name: string) => page.getByRole('region', { name }).locator('pre').innerText()
    const object = (await literal('Route object (IRR)')).replaceAll(/<your \w+>/g, 'ACME')
    const [, prefix, maxLength, asn] = /prefix: +(\S+)\s+maxLength: (\d+)\s+origin: +(AS\d+)/.exec(
      await literal('ROA (RPKI)'),
    )!
    appendFileSync(routes, `\n${object.trim()}\n`)
    const known = JSON.parse(readFileSync(roas, 'utf8')) as { roas: object[] }
    known.roas.push({ asn, prefix, maxLength: Number(maxLength), ta: 'demo' })
    writeFileSync(roas, JSON.stringify(known))
    // The registries are read again automatically; requesting the checks does not wait for that.
    const announce = page.getByRole('button', { name: 'Announce', exact: true })
    for (const end = performance.now() + waitMs; (await announce.count()) === 0;) {
      assert.ok(performance.now() < end, 'a check does not pass')
      // The button becomes Announce once the checks have passed.
      await page
        .getByRole('button', { name: 'Check again' })
        .click({ timeout: 2_000 })
        .catch(() => {})
      await announce.waitFor({ timeout: 4_000 }).catch(() => {})
    }
    await page.getByRole('tab', { name: /^Regions/ }).click()
    await page.getByLabel('Announce in Amsterdam').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Announce 198.18.100.0/24 in Amsterdam').waitFor()
    await dialog.getByRole('button', { name: 'Announce' }).click()
    const ams = page.getByRole('row').filter({ hasText: 'Amsterdam' })
    await ams.getByText('Announced', { exact: true }).waitFor()
    await ams.getByText(/^announced after [\d.]+ (ms|s)$/).waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    const remove = page.getByRole('menuitem', { name: /^Delete/ })
    await remove.waitFor()
    assert.ok(await remove.isDisabled())
    await page.keyboard.press('Escape')
    await remove.waitFor({ state: 'detached' })
    await settled(page)
    await shoot(page, 'announced')
    assert.deepEqual(await axeViolations(page), [])
    await page.getByLabel('Announce 198.18.100.0/24').click()
    await dialog.getByRole('button', { name: 'Withdraw' }).click()
    await ams.getByText('Withdrawn', { exact: true }).waitFor()

    // Enabling one region of a disabled announcement enables no other, and the last region is restored.
    await page.getByText('When enabled, announced in Amsterdam').waitFor()
    await page.getByLabel('Announce in Frankfurt').press('Space')
    await dialog.getByText('It will no longer be set up for Amsterdam.').waitFor()
    await dialog.getByRole('button', { name: 'Announce' }).click()
    await page.getByText('Enabled in Frankfurt').waitFor()
    await page.getByLabel('Announce in Frankfurt').press('Space')
    await dialog.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByText('When enabled, announced in the regions that were enabled last').waitFor()
    const fra = page.getByRole('row').filter({ hasText: 'Frankfurt' })
    await fra.getByText('Withdrawn', { exact: true }).waitFor()
    await page.getByLabel('Announce 198.18.100.0/24').click()
    await dialog.getByText('Announce 198.18.100.0/24 in Frankfurt').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('deletes a disabled announcement, lists it with the days left, and restores it', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/announcements?cidr=198.18.100.0%2F24`)
    await page.getByRole('link', { name: '198.18.100.0/24' }).click()
    await page.waitForURL(/announcements\/\d+/)
    const address = page.url()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Announcements' }).waitFor()
    await page.getByRole('link', { name: '203.0.113.0/24' }).waitFor()
    assert.equal(await page.getByRole('link', { name: '198.18.100.0/24' }).count(), 0)
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Deleted' }).click()
    await page.getByRole('radio', { name: 'Deleted in the last 7 days' }).check()
    await page.waitForURL(/deleted=true/)
    const row = page.getByRole('row').filter({ hasText: '198.18.100.0/24' })
    await row.getByText('7 days').waitFor()
    await shoot(page, 'deleted')

    // The page of the announcement shows it too.
    await page.goto(address)
    await page.getByText('You have 7 days to restore it').waitFor()
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByRole('tab', { name: /^Checks/ }).waitFor()
    await page.getByRole('tab', { name: /^History/ }).click()
    await page.getByText('Restored', { exact: true }).waitFor()
    assert.deepEqual(without(pageErrors, 404), [])
    await context.close()
  })

  it('restores from the list, and finds a prefix by a part of it and by an address', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    const found = (await api('demo@demo.example', '/v3/ipam/announcements?cidr=2001:db8:2000::/36')) as {
      results: { id: number }[]
    }
    await api('demo@demo.example', `/v3/ipam/announcements/${found.results[0]!.id}`, { method: 'DELETE' })
    await page.goto(`${demo.url}/announcements?deleted=true`)
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('Nothing deleted in the last 7 days').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('link', { name: '2001:db8:2000::/36' }).waitFor()
    const search = page.getByLabel('Prefix, description, AS')
    for (const text of ['2001:db8:2000', '2001:db8:2000::5']) {
      await search.fill(text)
      await page.getByRole('link', { name: '203.0.113.0/24' }).waitFor({ state: 'detached' })
      await page.getByRole('link', { name: '2001:db8:2000::/36' }).waitFor()
      await search.fill('')
      await page.getByRole('link', { name: '203.0.113.0/24' }).waitFor()
    }
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('explains a suspension, and does not offer to enable the prefix', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/announcements?status=suspended`)
    await page.getByRole('link', { name: '2001:db8:d::/48' }).click()
    await page.getByText(/Only the provider can lift the suspension/).waitFor()
    await page.getByRole('tab', { name: /^Regions/ }).click()
    assert.ok(await page.getByLabel('Announce 2001:db8:d::/48').isDisabled())
    await page.getByText('Suspended by your provider, so it cannot be announced.').waitFor()
    await settled(page)
    await shoot(page, 'suspended')
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('shows times in any zone, and in UTC with one click', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example', { timezoneId: 'Europe/Berlin' })
    await page.goto(`${demo.url}/profile`)
    const zone = page.getByRole('combobox', { name: 'Time zone' })
    await zone.fill('Tokyo')
    await page.getByRole('option', { name: 'Asia/Tokyo' }).click()
    const time = page.getByRole('listitem').filter({ hasText: 'This device' }).locator('time').first()
    const at = (await time.getAttribute('datetime'))!
    const hourIn = (timeZone: string) =>
      new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(new Date(at))
    await time.getByText(`${hourIn('Asia/Tokyo')}:`).waitFor()
    await time.getByText('GMT+9').waitFor()
    await page.getByRole('radiogroup', { name: 'Time zone' }).getByText('UTC').click()
    await time.getByText(`${hourIn('UTC')}:`).waitFor()
    await page.reload()
    await time.getByText('UTC').waitFor()
    await shoot(page, 'profile-utc')
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('shows an e-mail address that is not confirmed yet', async () => {
    const { context, page, pageErrors } = await person('other@demo.example')
    await page.goto(`${demo.url}/profile`)
    await page.getByRole('button', { name: 'Change e-mail' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('New address').fill('otis@demo.example')
    await dialog.getByRole('textbox', { name: 'Current password' }).fill(demoPassword)
    await dialog.getByRole('button', { name: 'Send link' }).click()
    await page.getByText('Confirm otis@demo.example').waitFor()
    await page.reload()
    await page.getByText('Confirm otis@demo.example').waitFor()
    await settled(page)
    await shoot(page, 'profile-waiting-email')
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('leads a member without a second factor to its setup if the team requires one, and back', async () => {
    await requireFactorWithout('other@demo.example')
    const { context, page, pageErrors } = await person()
    await page.goto(`${demo.url}/announcements`)
    await page.getByLabel('E-mail').fill('other@demo.example')
    await page.getByRole('textbox', { name: 'Password' }).fill(demoPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'One more step' }).waitFor()
    await page.getByText('Other Networks requires two-factor authentication').waitFor()
    await settled(page)
    await shoot(page, 'second-factor-wanted')
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('button', { name: 'Set up' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await settled(page)
    assert.deepEqual(await axeViolations(page), [])
    await dialog.getByRole('textbox', { name: 'Current password' }).fill(demoPassword)
    await dialog.getByRole('button', { name: 'Continue' }).click()
    const secret = await dialog.locator('code').first().innerText()
    await dialog.getByLabel('Six-digit code').fill(new TOTP({ secret }).generate())
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    const download = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Download' }).click()
    const kept = readFileSync(await (await download).path(), 'utf8')
    for (const code of (await dialog.locator('pre').innerText()).trim().split('\n'))
      assert.ok(kept.includes(code))
    await dialog.getByRole('button', { name: 'I have saved these codes' }).click()
    await page.getByRole('heading', { name: 'Announcements' }).waitFor()
    await page.getByRole('link', { name: '192.0.2.0/24' }).waitFor()
    assert.deepEqual(without(pageErrors, 403), [])
    await context.close()
  })

  /** Only an admin with a second factor can require one; this admin disables it again. */
  async function requireFactorWithout(email: string): Promise<void> {
    const body = { current_password: demoPassword }
    const bearer = (
      (await ask('/v3/session/token', { method: 'POST', body: { email, password: demoPassword } })) as {
        access: string
      }
    ).access
    const { secret } = (await ask('/v3/session/totp', { method: 'POST', body }, bearer)) as { secret: string }
    const otp = new TOTP({ secret }).generate()
    const { recovery_codes: codes, access } = (await ask(
      '/v3/session/totp/confirm',
      { method: 'POST', body: { otp } },
      bearer,
    )) as { recovery_codes: string[]; access: string }
    await ask('/v3/teams/current', { method: 'PATCH', body: { require_2fa: true } }, access)
    await ask('/v3/session/totp/disable', { method: 'POST', body: { ...body, otp: codes[0]! } }, access)
  }

  for (const [status, code, title] of [
    [429, 'rate_limited', 'Too many requests'],
    [503, 'unavailable', 'A dependency is not available'],
  ] as const)
    it(`counts down the wait after a sign-in is answered with ${status}, and then allows a retry`, async () => {
      const { context, page, pageErrors } = await person()
      const busy = refused(status, code, { title }, { 'retry-after': '9' })
      await using refusal = await intercept(page, '**/v3/session/token', busy)
      await page.goto(`${demo.url}/sign-in`)
      await page.getByLabel('E-mail').fill('demo@demo.example')
      await page.getByRole('textbox', { name: 'Password' }).fill(demoPassword)
      await page.getByRole('button', { name: 'Sign in' }).click()
      const wait = page.getByRole('button', { name: /^Wait \d s$/ })
      await wait.waitFor()
      await page.getByText(/^Try again in \d s\.$/).waitFor()
      await shoot(page, `sign-in-${status}`)
      await refusal.stop()
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      assert.deepEqual(without(pageErrors, status), [])
      await context.close()
    })

  it('keeps the page while the server is out of reach, and recovers automatically', async () => {
    const { context, page } = await person('demo@demo.example')
    await page.goto(`${demo.url}/announcements/1`)
    const shown = page.getByText('Enabled in Amsterdam')
    await shown.waitFor()
    await using away = await intercept(page, /\/(v3|readyz)/, lost)
    const banner = page.getByText('Connection lost')
    await banner.waitFor()
    assert.ok(await shown.isVisible())
    await settled(page)
    await shoot(page, 'server-away')
    assert.deepEqual(await axeViolations(page), [])
    await page.reload()
    await page.getByText('Cannot reach the server').waitFor()
    await away.stop()
    await shown.waitFor()
    await banner.waitFor({ state: 'detached' })
    await context.setOffline(true)
    await page.getByText('You are offline').waitFor()
    await context.setOffline(false)
    await page.getByText('You are offline').waitFor({ state: 'detached' })
    assert.ok(await shown.isVisible())
    await context.close()
  })

  it('names the contact for a page whose module is not enabled', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    const withoutModule = changed(({ user, ...rest }: { user: object }) => ({
      ...rest,
      user: { ...user, enabled_modules: ['ipam'] },
    }))
    await using _ = await intercept(page, '**/v3/session/refresh', withoutModule)
    await page.goto(`${demo.url}/events`)
    await page.getByText('Not enabled for Demo Networks').waitFor()
    await page.getByText(/Ask your provider to enable it/).waitFor()
    await settled(page)
    await shoot(page, 'module-off')
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  const places = [
    '/asns',
    '/asns/64496',
    '/asns/64511',
    '/announcements?deleted=true',
    '/announcements/1',
    '/announcements/15',
    '/announcements/1?tab=letters',
    '/announcements/1?tab=visibility',
    '/announcements/1?tab=api',
    '/prefixes/1',
    '/announcements/1?tab=history',
    '/announcements/new?cidr=198.18.101.0%2F24&asn=64496',
    '/profile',
  ]
  for (const colorScheme of ['light', 'dark'] as const)
    it(`has pages without policy violations, errors or serious accessibility problems, in the ${colorScheme} theme`, async () => {
      const { context, page, pageErrors } = await person('demo@demo.example', { colorScheme })
      for (const place of places) {
        await page.goto(demo.url + place)
        await settled(page)
        const name = `byoip-${colorScheme}${place.replaceAll(/\W+/g, '-')}`
        await shoot(page, name)
        assert.deepEqual(await axeViolations(page), [], place)
        await page.setViewportSize({ width: 360, height: 740 })
        await assertFits(page, place, 360)
        await shoot(page, `${name}-360`)
        await page.setViewportSize({ width: 1280, height: 800 })
      }
      assert.deepEqual(pageErrors, [])
      await context.close()
    })
})
