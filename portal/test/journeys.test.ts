// The main tasks of users, in a browser with the whole demo: a journey per part of the portal. The other tests of a part end in
// .long.test.ts; tests of the portal alone use the example server.
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { freePort } from '../../lab/src/address.ts'
import { createExportState, encodeIpfix } from '../../demo/src/traffic/datagrams.ts'
import { demoExporters, flowsBetween } from '../../demo/src/traffic/model.ts'
import {
  demoPassword,
  openBrowser,
  openPerson,
  settled,
  skipWithoutBrowser,
  until,
  visit,
  type Person,
} from './browser.ts'
import { applyRules } from './apply-rules.ts'
import { ban, Demo } from './demo.ts'

describe('in the portal', { skip: skipWithoutBrowser() }, () => {
  let netflowPort: number
  let demo: Demo
  let browser: Browser
  before(async () => {
    netflowPort = await freePort()
    demo = new Demo({ settings: { PHAROS_NETFLOW_LISTEN: `127.0.0.1:${netflowPort}` } })
    await demo.start()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  const people = new Map<string, Promise<Person>>()
  /** Signs in once for all journeys. */
  async function pageOf(email: string): Promise<Page> {
    const person = people.get(email) ?? openPerson(browser, demo.url, email)
    people.set(email, person)
    return (await person).page
  }
  const member = () => pageOf('demo@demo.example')
  /** Problems since the last call, except answers with these statuses. */
  async function problems(email: string, ...statuses: number[]): Promise<string[]> {
    const { pageErrors } = await people.get(email)!
    return pageErrors
      .splice(0)
      .filter((error) => !statuses.some((status) => error.includes(`status of ${status}`)))
  }

  it('a person signs in, invites a colleague, who joins by the link of the mail and sees the same team only', async () => {
    await using guest = await openPerson(browser, demo.url)
    const { page } = guest
    await page.goto(`${demo.url}/team`)
    await page.getByLabel('E-mail').fill('demo@demo.example')
    const password = page.getByRole('textbox', { name: 'Password' })
    await password.fill('not this one')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The e-mail address or the password is wrong.').waitFor()
    await password.fill(demoPassword)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'E-mail addresses' }).fill('noc@customer.example')
    await dialog.getByRole('button', { name: 'Send invitations' }).click()
    await page.getByRole('cell', { name: 'noc@customer.example', exact: true }).waitFor()

    await using colleague = await openPerson(browser, demo.url)
    await colleague.page.goto(await linkOfMail('noc@customer.example'))
    await colleague.page.getByRole('textbox', { name: 'Password' }).fill('eleven wet lighthouses')
    await colleague.page.getByRole('button', { name: 'Create account and join' }).click()
    await colleague.page.getByText('You have joined Demo Networks.').waitFor()

    await page.getByRole('button', { name: /^Account of/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByText('You have signed out.').waitFor()
  })

  /** The loop that sends mails writes the file a moment after the invitation is stored. */
  async function linkOfMail(address: string): Promise<string> {
    let link: string | undefined
    await until(`a link in a mail to ${address}`, async () => {
      const mail = demo.mailsTo(address).at(-1)?.replaceAll('=\r\n', '').replaceAll('=3D', '=')
      link = /http:\/\/127\.0\.0\.1:\d+\/[a-z-]+#[\w.-]+/.exec(mail ?? '')?.[0]
      assert.ok(link)
    })
    return link!
  }

  it('a prefix is withdrawn and announced after its effect was shown, and shows what the routers have', async () => {
    const page = await member()
    await visit(page, '/announcements')
    await page.getByRole('link', { name: '198.51.100.0/24' }).click()
    await page.getByText('Announced', { exact: true }).first().waitFor()
    await page.getByLabel('Announce 198.51.100.0/24').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Withdraw 198.51.100.0/24 from Amsterdam').waitFor()
    await dialog.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByRole('table').getByText('Withdrawn', { exact: true }).first().waitFor()
    await page.getByLabel('Announce 198.51.100.0/24').click()
    await dialog.getByText('Announce 198.51.100.0/24 in Frankfurt').waitFor()
    await dialog.getByRole('button', { name: 'Announce' }).click()
    await page.getByText('Announced', { exact: true }).first().waitFor()
    await page.getByRole('tab', { name: /^History/ }).click()
    await page.getByText('Disabled', { exact: true }).first().waitFor()
    assert.deepEqual(await problems('demo@demo.example'), [])
  })

  it('an attack appears while the list is open, leads to its page, and is not found for another team', async () => {
    const page = await member()
    await visit(page, '/events')
    await page.getByRole('cell').first().waitFor()
    await demo.post('/v3/ingest/events/fastnetmon', ban, 'Token demo-secret')
    const attack = page.getByRole('row').filter({ hasText: '9.5 Gbps' }).filter({ hasText: 'Detected' })
    await attack.getByRole('link', { name: '203.0.113.77' }).click()
    await page.getByRole('region', { name: 'Affected' }).getByText('Game servers').waitFor()
    await page.getByRole('region', { name: 'Timeline' }).getByText('Started', { exact: true }).waitFor()
    assert.deepEqual(await problems('demo@demo.example'), [])
    await using other = await openPerson(browser, demo.url, 'other@demo.example')
    await visit(other.page, new URL(page.url()).pathname)
    await other.page.getByText('Not found').first().waitFor()
    assert.equal(await other.page.getByText('Game servers').count(), 0)
  })

  it('flows of a router are in the traffic explorer, and are filtered from its table', async () => {
    const page = await member()
    const table = page.getByRole('region', { name: 'Groups' }).getByRole('table')
    const socket = createSocket('udp4').bind(0, demoExporters[0]!.address)
    await once(socket, 'listening')
    try {
      const state = createExportState(Date.now())
      await until('flows in the traffic explorer', async () => {
        const nowMs = Date.now()
        const flows = flowsBetween(nowMs - 5_000, nowMs, 4).filter(({ exporter }) => exporter === 0)
        for (const datagram of encodeIpfix(flows, state, nowMs))
          socket.send(datagram, netflowPort, '127.0.0.1')
        await page.goto(`${demo.url}/traffic?range=1h`)
        await page.getByRole('heading', { name: 'Traffic explorer' }).waitFor()
        await table.waitFor({ timeout: 5_000 })
      })
    } finally {
      socket.close()
    }
    await table
      .getByRole('button', { name: /^Show only/ })
      .first()
      .click()
    await page.waitForURL(/filter=protocol:eq:/)
    await page
      .getByRole('group', { name: 'Filters' })
      .getByRole('button', { name: /^Protocol is/ })
      .waitFor()
    await table.waitFor()
    assert.deepEqual(await problems('demo@demo.example'), [])
  })

  it('a zone is created, its records are planned, applied, answered by the name server, and undone', async () => {
    const name = 'orchard.example'
    const resolver = new Resolver({ timeout: 2_000, tries: 1 })
    resolver.setServers([`127.0.0.1:${demo.dnsPort}`])
    const page = await member()
    await visit(page, '/zones/new')
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('button', { name: 'Create zone' }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Add record' }).click()
    await page.getByLabel('Name of the record set').first().fill('www')
    await page.getByLabel('Values, one per line').first().fill('192.0.2.1\n192.0.2.2')
    await page.getByRole('button', { name: 'Review changes' }).click()
    const plan = page.getByRole('dialog', { name: 'Review changes' })
    await plan.getByText('1 added, 0 changed, 0 deleted').waitFor()
    await plan.getByRole('button', { name: 'Apply' }).click()
    await page.getByText(/^Version \d+ published/).waitFor()
    await until('the name server to answer', async () =>
      assert.deepEqual((await resolver.resolve4(`www.${name}`)).sort(), ['192.0.2.1', '192.0.2.2']),
    )
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('row').filter({ hasText: '192.0.2.2' }).waitFor({ state: 'detached' })
    await until('the name server to have no such name', () =>
      assert.rejects(resolver.resolve4(`www.${name}`), { code: 'ENOTFOUND' }),
    )
    assert.deepEqual(await problems('demo@demo.example'), [])
  })

  it('shield rules are reviewed with their effect, applied with a timer on every page, and confirmed', async () => {
    const page = await member()
    await visit(page, '/shield')
    await page.getByRole('button', { name: 'Add list' }).click()
    const adding = page.getByRole('dialog', { name: 'Add list' })
    await adding.getByRole('combobox', { name: 'Prefix of the new list' }).fill('203.0.113.0/24')
    await adding.getByRole('button', { name: 'Add list' }).click()
    await page.getByRole('heading', { level: 1, name: '203.0.113.0/24' }).waitFor()
    await page
      .getByRole('button', { name: /^Add (the first )?rule$/ })
      .first()
      .click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Protocol').first().fill('UDP')
    await page.keyboard.press('Tab')
    await form.getByLabel('Source ports').first().fill('53')
    await form.getByRole('button', { name: 'Save rule' }).click()
    await form.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Review changes' }).click()
    const dialog = page.getByRole('dialog', { name: 'Apply rules to 203.0.113.0/24' })
    await dialog.getByRole('region', { name: 'Effect in the last hour' }).waitFor()
    await applyRules(dialog)
    const timer = page.getByRole('region', { name: /are not confirmed/ })
    await timer.getByText(/restored in [0-5]:\d\d/).waitFor()
    await visit(page, '/announcements')
    await timer.getByRole('button', { name: 'Keep new rules' }).click()
    await timer.waitFor({ state: 'detached' })
    await visit(page, '/shield/rules?prefix=203.0.113.0%2F24')
    await page.getByRole('region', { name: 'Rules', exact: true }).getByText('UDP, source port 53').waitFor()
    await page.getByText('Active', { exact: true }).first().waitFor()
    assert.deepEqual(await problems('demo@demo.example', 409, 422), [])
  })

  it('a port leads to its service and the bill', async () => {
    const page = await member()
    await visit(page, '/ports')
    await page.locator('[data-list] tbody a[href^="/ports/"]').first().click()
    await page.waitForURL(/\/ports\/\d+/)
    for (const name of ['Light levels', 'Log'])
      await page.getByRole('region', { name, exact: true }).waitFor()
    await page.locator('main a[href^="/services/"]').first().click()
    await page.waitForURL(/\/services\/\d+/)
    await page.getByRole('region', { name: 'Ports', exact: true }).waitFor()
    await page.getByRole('region', { name: 'Bill', exact: true }).waitFor()
    assert.deepEqual(await problems('demo@demo.example'), [])
  })

  it('staff land on their overview, whose figures are those of the pages behind it', async () => {
    const page = await pageOf('staff@demo.example')
    assert.equal(new URL(page.url()).pathname, '/staff')
    await settled(page)
    const figure = page.locator('[data-figure]').filter({ hasText: 'Inbox' })
    const waiting = await figure.getByRole('link').innerText()
    const installation = page.getByRole('region', { name: 'Installation' })
    /** `3 of 4` of each part. */
    const parts = new Map(
      (await installation.getByRole('row').allInnerTexts())
        .slice(1)
        .map((row) => row.split(/\t|\n/).map((cell) => cell.trim()))
        .map(([part, working]) => [part, working!.replace(/^.* of /, '')]),
    )
    /** The number of rows that a list names, and that of the part: disabled ones are not counted as a part. */
    const lists = [
      ['Name servers', '/staff/name-servers', 'name server'],
      ['Scrubbers', '/staff/scrubbers', 'scrubber'],
      ['Flow exporters', '/staff/exporters', 'exporter'],
      ['Devices', '/staff/devices', 'device'],
    ] as const
    for (const [part, place, thing] of lists) {
      await visit(page, place)
      await page.getByRole('heading', { level: 1, name: part }).waitFor()
      const count = Number(parts.get(part))
      // The demo of this test has no exporter.
      if (count > 0)
        await page.getByText(`${count} ${thing}${count === 1 ? '' : 's'}`, { exact: true }).waitFor()
    }
    for (const [place, title] of [
      ['/staff/processes', 'Processes'],
      ['/staff/mails', 'Mails'],
      ['/staff/users', 'Users'],
      ['/staff/audit', 'Audit log of all customers'],
    ] as const) {
      await visit(page, place)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      await page.locator('[data-list] tbody tr').first().waitFor()
    }
    await visit(page, '/staff/inbox')
    const requests = page.getByRole('list', { name: 'Requests' })
    await until('the entries of the inbox', async () =>
      assert.equal(String(await requests.getByRole('listitem').count()), waiting),
    )
    assert.deepEqual(await problems('staff@demo.example'), [])
  })

  it('staff suspend a prefix with a reason that the customer sees, and resume it', async () => {
    const page = await pageOf('staff@demo.example')
    const customer = await member()
    await visit(page, '/staff/customers')
    await page.getByRole('row').filter({ hasText: 'Demo Networks' }).click()
    await page.locator('[data-panel]').getByRole('link', { name: 'Open page' }).click()
    const row = page.getByRole('row').filter({ hasText: '203.0.113.0/24' })
    await row.getByRole('button', { name: 'Suspend 203.0.113.0/24' }).click()
    const dialog = page.getByRole('dialog', { name: 'Suspend 203.0.113.0/24?' })
    await dialog.getByText(/is withdrawn from/).waitFor()
    await dialog.getByLabel('Reason').fill('The prefix is reported as hijacked.')
    await dialog.getByRole('button', { name: 'Suspend' }).click()
    await row.getByText('The prefix is reported as hijacked.').waitFor()
    await visit(customer, '/announcements?cidr=203.0.113.0%2F24')
    await customer.getByRole('link', { name: '203.0.113.0/24' }).click()
    await customer.getByText('The prefix is reported as hijacked.').first().waitFor()
    await row.getByRole('button', { name: 'Resume 203.0.113.0/24' }).click()
    await page.getByRole('dialog', { name: 'Resume 203.0.113.0/24?' }).waitFor()
    // The effects have the focus: Enter confirms.
    await page.keyboard.press('Enter')
    await row.getByRole('button', { name: 'Suspend 203.0.113.0/24' }).waitFor()
    assert.deepEqual(await problems('demo@demo.example'), [])
    assert.deepEqual(await problems('staff@demo.example'), [])
  })
})
