// Security events in a browser: filters, new events, the page of an event, and access by another team.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { assertFits, axeViolations } from './accessibility.ts'
import { applyRules } from './apply-rules.ts'
import { demoPassword, openBrowser, openPerson, shoot, skipWithoutBrowser } from './browser.ts'
import { ban, Demo } from './demo.ts'

describe('security events in the portal', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo({ traffic: true })
  let browser: Browser
  before(async () => {
    await demo.start()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  const person = (email: string, options: BrowserContextOptions = {}) =>
    openPerson(browser, demo.url, email, { viewport: { width: 1280, height: 900 }, ...options })

  const rows = (page: Page) => page.getByRole('table').getByRole('row')

  it('keep their filters in the address: through a reload, into an event and back, until they are cleared', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/events`)
    await page.getByRole('link', { name: '2001:db8:a::', exact: false }).first().waitFor()
    await page.getByLabel('Address or prefix').fill('203.0.113.64/26')
    await page.waitForURL(/affected_network=203\.0\.113\.64/)
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Text' }).click()
    await page.getByLabel('Text', { exact: true }).fill('on 203')
    await page.keyboard.press('Enter')
    await page.waitForURL(/search=on/)
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Flags' }).click()
    await page.getByRole('checkbox', { name: 'Incoming' }).check()
    await page.waitForURL(/flag=INCOMING/)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Time range/ }).click()
    await page.getByRole('button', { name: 'Last 30 days' }).click()
    await page.waitForURL(/range=30d/)
    await page.reload()
    await page.getByRole('button', { name: 'Peak rate', exact: true }).click()
    await page.waitForURL(/sort=-affected_bps/)
    assert.equal(await page.getByLabel('Address or prefix').inputValue(), '203.0.113.64/26')
    await page.getByRole('button', { name: 'Text: on 203. Edit filter' }).waitFor()
    await page.getByRole('button', { name: 'Time range: Last 30 days' }).waitFor()
    const address = page.url()
    await rows(page).nth(1).getByRole('link').first().click()
    await page.getByRole('region', { name: 'Timeline' }).waitFor()
    await page.goBack()
    await page.waitForURL(address)
    await page
      .getByRole('columnheader', { name: 'Peak rate', exact: true })
      .and(page.locator('[aria-sort=descending]'))
      .waitFor()
    assert.equal(await page.getByLabel('Address or prefix').inputValue(), '203.0.113.64/26')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.waitForURL((url) => url.search === '?sort=-affected_bps')
    assert.equal(await page.getByLabel('Address or prefix').inputValue(), '')
    await page.getByRole('button', { name: 'Time range: Any time' }).waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('have a custom time range in the time zone of the page', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example', { timezoneId: 'Asia/Tokyo' })
    // A year that no time zone shows with four digits.
    await page.goto(`${demo.url}/events?from=0099-01-01`)
    await page.getByRole('button', { name: 'Dismiss' }).waitFor()
    const range = page.getByRole('button', { name: /^Time range/ })
    await range.click()
    await page.getByRole('button', { name: 'Custom range' }).click()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('Enter YYYY-MM-DD HH:MM').waitFor()
    await page.getByLabel('From', { exact: true }).fill('2026-01-10 12:00')
    await page.getByLabel('To', { exact: true }).fill('2026-01-09 12:00')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('The end must be after the start').waitFor()
    await page.getByLabel('To', { exact: true }).fill('2026-01-11 12:00')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL(/from=2026-01-10T03:00Z&to=2026-01-11T03:00Z/)
    await page.reload()
    await page.getByText('2026-01-10 12:00 to 2026-01-11 12:00').waitFor()
    await page.getByText('UTC', { exact: true }).click()
    await page.getByText('2026-01-10 03:00 to 2026-01-11 03:00').waitFor()
    await page.getByRole('button', { name: 'Later' }).click()
    await page.waitForURL(/from=2026-01-11T03:00Z&to=2026-01-12T03:00Z/)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('show the rows without a filter that the API rejects, and say so', async () => {
    const { context, page } = await person('demo@demo.example')
    await page.goto(`${demo.url}/events?affected_network=203.0.113.7%2F24`)
    await page.getByText(/host bits are set: write 203.0.113.0\/24/).waitFor()
    await page.getByRole('link', { name: '203.0.113.', exact: false }).first().waitFor()
    await shoot(page, 'events-refused')
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.waitForURL((url) => url.search === '')
    await context.close()
  })

  it('have their filters in one row and their fields in a sheet on a phone', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example', {
      viewport: { width: 360, height: 740 },
    })
    await page.goto(`${demo.url}/events?flag=INCOMING&search=udp`)
    await page.getByRole('button', { name: 'Flags: Incoming. Edit filter' }).click()
    await page.getByRole('dialog', { name: 'Flags' }).waitFor()
    await shoot(page, 'events-360-filters')
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await assertFits(page, 'the filters', 360)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  const minuteMs = 60_000
  /** A delivery of the demo's flow alarms: the state of the alarm so many minutes after its start. */
  const alarmAt = (raised: number, minute: number, state: string, mbps: number) => ({
    alarm: {
      id: 'FA-portal',
      state,
      kind: 'DNS reflection',
      direction: 'in',
      target: '198.51.100.77',
      opened: Math.round(raised / 1000),
      closed: state === 'lifted' ? Math.round((raised + minute * minuteMs) / 1000) : null,
      measured: Math.round((raised + minute * minuteMs) / 1000),
      rate: { mbps, kpps: mbps / 10 },
      threshold: { mbps: 75 },
      summary: 'DNS reflection to 198.51.100.77',
    },
  })

  it('appear while the list is open, with their chart and timeline, until they end', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/events`)
    await page.getByRole('link', { name: '203.0.113.', exact: false }).first().waitFor()
    const raised = Date.now() - 12 * minuteMs
    const send = (minute: number, state: string, mbps: number) =>
      demo.post(
        '/v3/ingest/events/flow-alarms',
        alarmAt(raised, minute, state, mbps),
        'Token demo-flow-secret',
      )
    await send(1, 'open', 4_000)
    await send(3, 'open', 77_000)
    await send(5, 'filtered', 6_000)
    await rows(page).filter({ hasText: '77 Gbps' }).getByRole('link', { name: '198.51.100.77' }).click()
    const traffic = page.getByRole('region', { name: 'Traffic', exact: true })
    const chart = traffic.getByRole('img')
    await chart.locator('canvas').waitFor()
    // The third delivery may be read after the page was opened.
    await traffic.getByRole('img', { name: /Detector max 77 Gbps at .* mitigation started at / }).waitFor()
    await chart.locator('.u-over').hover()
    await traffic
      .getByText(/^(77|6|4) Gbps$/)
      .first()
      .waitFor()
    await traffic.getByText('Show as table').click()
    for (const rate of ['4 Gbps', '77 Gbps', '6 Gbps'])
      await traffic.getByRole('cell', { name: rate, exact: true }).first().waitFor()
    await traffic.getByText('Packets per second', { exact: true }).click()
    await traffic.getByRole('img', { name: /Detector max 7\.7 Mpps at / }).waitFor()
    const timeline = page.getByRole('region', { name: 'Timeline' })
    for (const step of ['Started', 'Peak: 77 Gbps, 7.7 Mpps', 'Mitigation started'])
      await timeline.getByText(step, { exact: true }).waitFor()
    await page.getByText('Ongoing', { exact: true }).last().waitFor()
    await page.getByRole('region', { name: 'Affected' }).getByText('Mail').first().waitFor()
    const actions = page.getByRole('region', { name: 'What you can do' })
    await actions.getByText('Mitigation is active').waitFor()
    await actions.getByText(/^reported by the detector since/i).waitFor()
    await send(9, 'lifted', 20)
    await timeline.getByText('Ended', { exact: true }).waitFor()
    await page.getByText(/^ended \d/).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    assert.match(readFileSync(await file.path(), 'utf8'), /"id": "FA-portal"/)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('with a single measurement have a chart with a step, and a link to the announcement', async () => {
    // Not the address that the demo attacks: both reports would be one attack, with the measurements of the flow detector.
    const text = JSON.stringify(ban).replaceAll('203.0.113.77', '203.0.113.202')
    const alone = JSON.parse(text.replaceAll('7d1f3c52', '7d1f3c53')) as object
    await demo.post('/v3/ingest/events/fastnetmon', alone, 'Token demo-secret')
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/events?affected_network=203.0.113.202&ordering=-start`)
    await rows(page).filter({ hasText: '9.5 Gbps' }).getByRole('link').first().click()
    await page.getByText('Only one measurement', { exact: false }).waitFor()
    const chart = page.getByRole('region', { name: 'Traffic', exact: true }).getByRole('img')
    await chart.locator('canvas').waitFor()
    await page.getByRole('img', { name: /Detector max 9\.5 Gbps at / }).waitFor()
    await page
      .getByRole('region', { name: 'Affected', exact: true })
      .locator('a[href^="/announcements/"]')
      .click()
    await page.getByRole('heading', { name: '203.0.113.0/24' }).waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('show what a shield rule dropped of the attack and what passed, as a chart and as its table', async () => {
    await demo.post('/v3/ingest/events/fastnetmon', ban, 'Token demo-secret')
    await dropUdp('203.0.113.0/24', '203.0.113.77')
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/events?affected_network=203.0.113.77&ordering=-start`)
    await rows(page).filter({ hasText: '9.5 Gbps' }).getByRole('link').first().click()
    // The demo sends the flows of a reported attack while it is open, of the vector that the detector named; hits follow within seconds.
    const card = page.getByRole('region', { name: 'Traffic', exact: true })
    await card
      .getByRole('img', { name: /^Traffic to 203\.0\.113\.77\b.*Passed .*Dropped max [1-9]/s })
      .waitFor()
    // The legend switches the layers: the stack is as high as the flow records, which are hidden at first.
    const flows = card.getByRole('button', { name: /^Flow records/ })
    assert.equal(await flows.getAttribute('aria-pressed'), 'false')
    await flows.click()
    assert.equal(await flows.getAttribute('aria-pressed'), 'true')
    await card.getByText('Show as table').click()
    await card.getByRole('columnheader', { name: /^Dropped/ }).waitFor()
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('go from a suggestion to a rule that is in place, with its hits and an active mitigation, which ends with it', async () => {
    const text = JSON.stringify(ban).replaceAll('203.0.113.77', '203.0.113.201')
    const attack = JSON.parse(
      text.replace(/"attack_uuid":"[^"]*"/, `"attack_uuid":"${randomUUID()}"`),
    ) as object
    await demo.post('/v3/ingest/events/fastnetmon', attack, 'Token demo-secret')
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/events?affected_network=203.0.113.201`)
    await rows(page).getByRole('link').first().click()
    const actions = page.getByRole('region', { name: 'What you can do' })
    await actions.getByText('Mitigation is unknown').waitFor()
    await actions.getByRole('button', { name: 'Preview rule' }).click()
    const dialog = page.getByRole('dialog', { name: 'Apply rules to 203.0.113.0/24' })
    await applyRules(dialog)
    await actions.getByText('Mitigation is active').waitFor()
    // The second once flows show what they dropped.
    await actions.getByText(/^(?:By your shield rules since|Your shield rules drop .+, since)/).waitFor()
    await actions
      .locator('[data-rule]')
      .getByText(/^Active · .*(matched|not counted)/)
      .waitFor()
    const timer = page.getByRole('region', { name: /are not confirmed/ })
    await timer.getByRole('button', { name: 'Revert now' }).click()
    await actions.getByText('Mitigation has ended').waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  /** The list of the prefix is one rule. */
  async function dropUdp(prefix: string, destination: string): Promise<void> {
    const send = async (method: string, path: string, body: object, access?: string): Promise<unknown> => {
      const headers = {
        'content-type': 'application/json',
        ...(access === undefined ? {} : { authorization: `Bearer ${access}` }),
      }
      const response = await fetch(demo.url + path, { method, headers, body: JSON.stringify(body) })
      assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`)
      return response.json()
    }
    const credentials = { email: 'demo@demo.example', password: demoPassword }
    const { access } = (await send('POST', '/v3/session/token', credentials)) as { access: string }
    const rule = { action: 'deny', protocol: 'udp', destination }
    await send('PUT', '/v3/lighthouse/security/shield/rules', { prefix, rules: [rule], force: true }, access)
  }

  it('are bars by day on the overview, and a bar opens its day in the list', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example', { timezoneId: 'Asia/Tokyo' })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(demo.url)
    const bars = page.getByRole('region', { name: 'Attacks by day and peak' })
    await bars.getByRole('img').locator('canvas').waitFor()
    assert.match((await bars.getByRole('img').getAttribute('aria-label')) ?? '', /30 values\./)
    assert.ok(
      asked.some((url) => url.includes('/timeseries?') && url.includes('timezone=Asia%2FTokyo')),
      'days are those of the page',
    )
    for (const url of asked.filter((one) => one.includes('/incidents?')))
      assert.ok(Number(new URL(url).searchParams.get('limit')) <= 6, url)
    await bars.getByText('7 days', { exact: true }).click()
    await bars.getByRole('img', { name: /\b7 values\./ }).waitFor()
    await bars.getByRole('application').focus()
    // A key that is pressed before the bars are drawn has no effect.
    do await page.keyboard.press('End')
    while (!(await bars.locator('[data-opens]').isVisible()))
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/events\?from=[\d-]+T15:00Z&to=[\d-]+T15:00Z$/)
    await rows(page).nth(1).waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('are counted by figures that lead to exactly these rows', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    for (const [label, things] of [
      ['Announced prefixes', /^\d+ announcements?$/],
      ['Attacks, last 30 days', /^\d+ attacks?$/],
    ] as const) {
      await page.goto(demo.url)
      const link = page.locator('[data-figure]').filter({ hasText: label }).getByRole('link').first()
      await link.waitFor()
      const count = (await link.innerText()).trim()
      await link.click()
      const text = page.getByText(things).first()
      await text.waitFor()
      assert.equal((await text.innerText()).split(' ')[0], count, label)
    }
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('have a chart above the list that follows the filters, and zooms it', async () => {
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/events?range=7d&affected_network=203.0.113.0%2F24`)
    const strip = page.getByRole('figure', { name: 'Attacks over time' })
    await strip.getByRole('img').locator('canvas').waitFor()
    await strip.getByRole('application').focus()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await page.waitForURL(/affected_network=203\.0\.113\.0.*from=.*to=/)
    await strip.getByRole('button', { name: 'Reset zoom' }).click()
    await page.waitForURL(/range=7d/)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('show the effect of a withdrawal in one region, and withdraw nothing without a confirmation', async () => {
    await demo.post('/v3/ingest/events/fastnetmon', ban, 'Token demo-secret')
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/events?affected_network=203.0.113.77&ongoing=true`)
    await rows(page).nth(1).getByRole('link').first().click()
    const actions = page.getByRole('region', { name: 'What you can do' })
    await actions.getByText('Mitigation is', { exact: false }).waitFor()
    await actions.getByText(/All of 203\.0\.113\.0\/24 is withdrawn there/).waitFor()
    await actions.getByRole('button', { name: 'Preview' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Withdraw 203.0.113.0/24 from', { exact: false }).waitFor()
    assert.deepEqual(await axeViolations(page), [])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    const related = actions.getByRole('link', { name: 'View', exact: true })
    await related.click()
    await page.waitForURL(/affected_network=203\.0\.113\..*range=30d/)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('black-hole their target as the last resort, with the effect first, and end that at once', async () => {
    await demo.post('/v3/ingest/events/fastnetmon', ban, 'Token demo-secret')
    const { context, page, pageErrors } = await person('demo@demo.example')
    await page.goto(`${demo.url}/events?affected_network=203.0.113.77&ongoing=true`)
    await rows(page).nth(1).getByRole('link').first().click()
    const actions = page.getByRole('region', { name: 'What you can do' })
    await actions.getByRole('button', { name: 'Black-hole this host' }).click()
    const dialog = page.getByRole('dialog', { name: 'Black-hole 203.0.113.77' })
    await dialog.getByText('203.0.113.77 becomes unreachable for everybody').waitFor()
    await dialog.getByRole('region', { name: 'On this host' }).getByText('203.0.113.0/24').waitFor()
    assert.equal(await dialog.getByLabel(/^No ongoing attack/).count(), 0)
    assert.deepEqual(await axeViolations(page), [])
    await shoot(page, 'events-blackhole')
    await dialog.getByLabel('Ends after').selectOption('15 minutes')
    await dialog.getByRole('button', { name: 'Black-hole host' }).click()
    await dialog.waitFor({ state: 'detached' })
    const blackhole = actions.locator('[data-blackhole]')
    await blackhole.getByText('Active', { exact: true }).waitFor()
    await blackhole.getByText(/^Ends in 1[0-4]:\d\d$/).waitFor()
    // The mark of the event follows what the routers show.
    await page.getByText('Blackholed', { exact: false }).first().waitFor()
    await page.goto(`${demo.url}/shield`)
    const list = page.getByRole('region', { name: 'Black holes' })
    await list.getByRole('link', { name: 'View attack' }).click()
    await blackhole.getByRole('button', { name: 'End now' }).click()
    await actions.getByRole('button', { name: 'Black-hole this host' }).waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('are not found for another team', async () => {
    const { context, page } = await person('demo@demo.example')
    const address = await addressOfCourse(page)
    const other = await person('other@demo.example')
    await other.page.goto(address)
    await other.page.getByText('Event not found').waitFor()
    await shoot(other.page, 'events-not-yours')
    assert.deepEqual(await axeViolations(other.page), [])
    assert.equal(await other.page.getByRole('region', { name: 'Timeline' }).count(), 0)
    await other.page.getByRole('link', { name: 'all attacks' }).click()
    await other.page.getByRole('heading', { name: 'Attacks', level: 1 }).waitFor()
    await other.context.close()
    await context.close()
  })

  /** The address of an event in the demo's history with many measurements. */
  async function addressOfCourse(page: Page): Promise<string> {
    await page.goto(`${demo.url}/events?search=to%20203&ordering=-start`)
    const link = rows(page).nth(1).getByRole('link').first()
    await link.waitFor()
    return new URL((await link.getAttribute('href'))!, demo.url).href
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`have pages without policy violations, errors or serious accessibility problems, in the ${colorScheme} theme`, async () => {
      const { context, page, pageErrors } = await person('demo@demo.example', { colorScheme })
      const course = await addressOfCourse(page)
      await page.goto(`${demo.url}/events?search=on%20203&ordering=-start`)
      const once = (await rows(page).nth(1).getByRole('link').first().getAttribute('href'))!
      await examine(page, '/events?start=2020-01-01T00%3A00%3A00.000Z', `${colorScheme}-events-window`)
      await examine(page, new URL(course).pathname, `${colorScheme}-event-course`, 'canvas')
      await examine(page, once, `${colorScheme}-event-once`)
      assert.deepEqual(pageErrors, [])
      await context.close()
    })
  }

  async function examine(page: Page, place: string, name: string, wanted = 'h1'): Promise<void> {
    await page.goto(demo.url + place)
    await page.locator(wanted).first().waitFor()
    await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' })
    await shoot(page, name)
    assert.deepEqual(await axeViolations(page), [], place)
    await page.setViewportSize({ width: 360, height: 740 })
    await assertFits(page, place, 360)
    await shoot(page, `${name}-360`)
    await page.setViewportSize({ width: 1280, height: 900 })
  }
})
