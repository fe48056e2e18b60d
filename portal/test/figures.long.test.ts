// Figures that several pages show are the same figure: each page is opened once, read as a person reads it, and compared.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { formatRate } from '@pharos/contract/rate'
import type { Browser, Page } from 'playwright-core'
import { demoPassword, openBrowser, openPerson, skipWithoutBrowser, until, visit } from './browser.ts'
import { Demo } from './demo.ts'

type Row = Readonly<Record<string, string>>
type Shown = {
  /** The rows of all tables: cells by their head, `href` of the first link. */
  readonly rows: readonly Row[]
  /** All of the page, in one line. */
  readonly text: string
  /** The numbers beside the entries of the sidebar, by entry. */
  readonly badges: Row
  /** Links with their text. */
  readonly links: readonly { readonly text: string; readonly href: string }[]
}

const readPage = `(() => {
  const text = (node) => node.innerText.replace(/\\s+/g, ' ').trim()
  const rows = [...document.querySelectorAll('main table')].flatMap((table) => {
    const heads = [...table.querySelectorAll('thead th')].map(text)
    return [...table.querySelectorAll('tbody tr')].map((row) => ({
      ...Object.fromEntries([...row.children].map((cell, at) => [heads[at] ?? at, text(cell)])),
      href: row.querySelector('a')?.getAttribute('href') ?? '',
      titles: [...row.querySelectorAll('[title]')].map((one) => one.title).join('|'),
    }))
  })
  const badges = [...document.querySelectorAll('nav a')].flatMap((link) => {
    const [, name, count] = /^([A-Z][A-Za-z ]*?) (\\d+) /.exec(text(link)) ?? []
    return name ? [[name, count]] : []
  })
  const links = [...document.querySelectorAll('main a')].map((one) => ({ text: text(one), href: one.getAttribute('href') }))
  return { rows, text: text(document.querySelector('main')), badges: Object.fromEntries(badges), links }
})()`

async function open(page: Page, place: string): Promise<Shown> {
  await visit(page, place)
  // Parts that are loaded with the charts.
  await page.waitForFunction(`!document.querySelector('main .mantine-Skeleton-root, main [aria-busy=true]')`)
  return await page.evaluate<Shown>(readPage)
}

const found = <T>(value: T | undefined | null, what: string): T => {
  assert.ok(value !== undefined && value !== null, what)
  return value
}
/** Returns the match of the first group of the pattern. */
const part = ({ text }: Shown, pattern: RegExp): string =>
  found(pattern.exec(text)?.[1], `${pattern} in ${text}`)
const rowWith = ({ rows, text }: Shown, ...values: readonly string[]): Row =>
  found(
    rows.find((row) => values.every((value) => Object.values(row).some((cell) => cell.includes(value)))),
    `${values.join()} in ${text}`,
  )
/** The number of rows of a list, as its head says. */
const total = (list: Shown): string =>
  part(list, /([\d,]+) (?:announcements?|attacks?|ports?|notifications?) /)
const rate = /\d[\d.,]* [kMGT]?bps/

describe('a figure that several pages show', { skip: skipWithoutBrowser() }, () => {
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
  const person = (email = 'demo@demo.example') =>
    openPerson(browser, demo.url, email, { timezoneId: 'UTC', viewport: { width: 1440, height: 2400 } })

  /** The rows of a CSV of staff without quoted cells in the columns that are compared. */
  async function csvOf(path: string): Promise<Row[]> {
    const body = JSON.stringify({ email: 'staff@demo.example', password: demoPassword })
    const headers = { 'content-type': 'application/json' }
    const signedIn = await fetch(`${demo.url}/v3/session/token`, { method: 'POST', headers, body })
    const { access } = (await signedIn.json()) as { access: string }
    const answer = await fetch(demo.url + path, { headers: { authorization: `Bearer ${access}` } })
    const [head, ...lines] = (await answer.text())
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','))
    return lines.map((cells) => Object.fromEntries(cells.map((cell, at) => [head![at], cell])))
  }

  it('counts announcements by state, and the regions that have them', async () => {
    await using admin = await person()
    const { page } = admin
    const overview = await open(page, '/')
    const list = await open(page, '/announcements')
    const [, announced, of] = found(/Announced prefixes (\d+) of (\d+)/.exec(overview.text), overview.text)
    assert.equal(total(list), of)
    assert.equal(part(overview, /All (\d+) /), of)
    assert.equal(list.rows.filter(({ Status }) => Status === 'Announced').length, Number(announced))
    const blocked = part(overview, /(\d+) blocked/)
    assert.equal(overview.badges['Announcements'], blocked)
    for (const [condition, count] of [
      ['in_sync', announced!],
      ['blocked', blocked],
      ['off', part(overview, /(\d+) off/)],
    ] as const)
      assert.equal(total(await open(page, `/announcements?condition=${condition}`)), count, condition)

    const places = 'Announced in'
    const largest = overview.rows.filter((row) => row[places])
    assert.ok(largest.length > 0, 'the overview has announcements')
    for (const { Prefix = '', Status, ...one } of largest) {
      const row = rowWith(list, Prefix.split(' ')[0]!)
      assert.deepEqual([row['Status'], row[places]], [Status, one[places]], Prefix)
    }
    const regions = overview.rows.filter(({ href = '' }) => href.startsWith('/announcements?region='))
    assert.ok(regions.length > 3, 'the regions are rows')
    for (const { href = '', ...region } of regions) {
      const count = found(region['Announced'], JSON.stringify(region))
      const slug = /region=(\w+)/.exec(href)![1]!
      const having = list.rows.filter(({ titles = '' }) =>
        /Announced in ([^|]*?)\. /.exec(titles)?.[1]!.split(', ').includes(slug),
      )
      assert.equal(String(having.length), count, href)
    }
    const web = rowWith(list, '203.0.113.0/24')
    const announcement = await open(page, web['href']!)
    assert.ok(announcement.text.startsWith('203.0.113.0/24'), announcement.text)
    assert.equal(part(announcement, /^\S+(?: \S+)*? (Announced)/), web['Status'])
    assert.equal(part(announcement, /Regions ?(\d+ of \d+) ?Letters/), web[places])
    const prefix = await open(page, '/prefixes/1')
    assert.equal(rowWith(prefix, '203.0.113.0/24', 'AS64496')['Status'], web['Status'])
    assert.deepEqual(admin.pageErrors, [])
  })

  it('counts attacks, and gives each the same peak and duration', async () => {
    await using admin = await person()
    const { page } = admin
    // An attack may begin or end between two pages.
    await until('the pages to agree on the attacks of now', async () => {
      const overview = await open(page, '/')
      const ongoing = part(overview, /Ongoing attacks (\d+)/)
      assert.equal(overview.badges['Attacks'], ongoing)
      if (ongoing !== '0') assert.equal(part(overview, /(\d+) attacks? now/), ongoing)
      assert.equal(total(await open(page, '/events?ongoing=true')), ongoing)
      const recent = await open(page, '/events?range=30d&false_positive=false&sort=-affected_bps')
      assert.equal(total(recent), part(overview, /Attacks, last 30 days (\d+)/))
      const prefix = await open(page, '/prefixes/1')
      const all = found(
        prefix.links.find(({ text }) => /^View all \d/.test(text)),
        prefix.text,
      )
      assert.equal(total(await open(page, all.href)), /\d+/.exec(all.text)![0])
    })
    const overview = await open(page, '/')
    const list = await open(page, '/events?range=30d&false_positive=false&sort=-affected_bps')
    const largest = overview.rows.filter(({ Peak }) => Peak !== undefined)
    assert.ok(largest.length >= 5)
    for (const { Target, Type, Peak, Started, href } of largest) {
      const row = rowWith(list, href!)
      const cells = [row['Network'], row['Type'], row['Peak rate'], row['Started']]
      assert.deepEqual(cells, [Target, Type, Peak, Started])
    }
    const { href, Peak } = largest.find(({ Started }) => Started)!
    const row = rowWith(list, href!)
    const attack = await open(page, href!)
    assert.equal(part(attack, /Peak (\d[\d.,]* \wbps)/), Peak)
    assert.equal(part(attack, /Packet rate (\d[\d.,]* \w?pps)/), row['Peak pps'])
    assert.equal(part(attack, /Duration (.+?) ended/), row['Duration'])
    const near = found(
      attack.links.find(({ href }) => /affected_network=/.test(href)),
      'neighbouring attacks',
    )
    assert.equal(total(await open(page, near.href)), part(attack, /(\d+) attacks on \S+ in the last 30 days/))

    const report = await open(page, `/reports?month=${monthOfAttacks}`)
    const reported = found(
      report.rows.find(({ Target }) => Target),
      report.text,
    )
    const shown = await open(page, reported['href']!)
    assert.equal(part(shown, /Peak (\d[\d.,]* \wbps)/), reported['Peak'])
    assert.equal(part(shown, /Duration (.+?) ended/), reported['Duration'])
    assert.equal(part(report, /Largest (\d[\d.,]* \wbps)/), reported['Peak'])
    assert.deepEqual(admin.pageErrors, [])
  })

  it('tells of an attack as its notification and its page have it', async () => {
    await using admin = await person()
    const { page } = admin
    await until('the notification and the page to agree', async () => {
      const list = await open(page, '/notifications')
      const told = found(
        list.text.match(/Attack (?:on|ended on) (\S+): .*?, peak (\S+ \wbps), (\S+ \w?pps)/),
        list.text,
      )
      const attack = found(
        list.links.find(({ href }) => href.startsWith('/events/')),
        list.text,
      )
      const shown = await open(page, attack.href)
      assert.ok(shown.text.startsWith(told[1]!))
      assert.match(shown.text, new RegExp(`[Pp]eak ${told[2]}`))
      assert.ok(shown.text.includes(`Packet rate ${told[3]}`), shown.text)
    })
    assert.deepEqual(admin.pageErrors, [])
  })

  it('is the bill of a month', async () => {
    await using admin = await person()
    await using staff = await person('staff@demo.example')
    const { page } = admin
    const report = await open(page, `/reports?month=${lastMonth}`)
    const bills = await open(staff.page, `/staff/bills?period=${lastMonth}`)
    const services = await open(page, '/services')
    const csv = await csvOf(`/v3/admin/inventory/bills/csv?period=${lastMonth}`)
    const names = ['Transit Amsterdam', 'Transit Frankfurt', 'Cross connect Frankfurt']
    for (const name of names) {
      const listed = rowWith(services, name)
      const service = await open(page, listed['href']!)
      const past = rowWith(service, lastMonthText)
      const billed = found(past['Billed'], name)
      await page.getByRole('combobox', { name: 'Month' }).selectOption(lastMonth)
      const chosen = await (async () => {
        await page.getByText('Final', { exact: true }).waitFor()
        return await page.evaluate<Shown>(readPage)
      })()
      assert.ok(chosen.text.includes(` ${billed}`), `${billed} in ${chosen.text}`)
      if (past['Amount'] !== '–') assert.ok(rowWith(chosen, 'Total', past['Amount']!), name)
      const inReport = report.rows.filter(({ 'Service and port': of = '' }) => of.startsWith(name))
      const same = found(
        inReport.find((row) => row['Billed'] === billed),
        `${name}: ${billed}`,
      )
      assert.equal(same['Above commit'], past['Above the commit'], name)
      assert.equal(same['Commit'], listed['Commit'], name)
      const ofStaff = rowWith(bills, name, billed)
      assert.equal(ofStaff['Amount'], past['Amount'], name)
      const line = found(
        csv.find((row) => row['service'] === name && row['problem'] === ''),
        name,
      )
      const isVolume = line['billable_bps'] === ''
      const figure = isVolume ? line['billable_octets'] : line['billable_bps']
      assert.equal(formatRate(Number(figure), isVolume ? 'B' : 'bps'), billed, name)
    }
    assert.deepEqual(admin.pageErrors, [])
  })

  it('is the usage of a port now, on its page, in lists and of its device', async () => {
    await using admin = await person()
    const { page } = admin
    await until('the pages to agree on a poll', async () => {
      const port = await open(page, '/ports/1')
      const device = await open(page, '/devices/1')
      const list = await open(page, '/ports')
      const figure = (name: string) =>
        found(
          port.rows.find((row) => row['Figure'] === name),
          port.text,
        )
      const { In: inbound, Out: outbound } = figure('Now')
      assert.match(inbound!, rate)
      assert.equal(rowWith(list, 'et-0/0/0')['titles'], `in ${inbound}, out ${outbound}`)
      assert.equal(rowWith(device, 'In of your ports')['Now'], inbound)
      assert.equal(rowWith(device, 'Out of your ports')['Now'], outbound)
      assert.equal(rowWith(device, 'In of your ports')['Average'], figure('Average')['In'])
    })
    const port = await open(page, '/ports/1')
    for (const direction of ['In', 'Out']) {
      const compared = found(
        port.rows.find((row) => Object.values(row).includes(direction) && row['Flow records'] !== undefined),
        port.text,
      )
      const percent = Number.parseFloat(compared['Ratio']!)
      assert.ok(percent > 90 && percent < 100, JSON.stringify(compared))
    }
    assert.ok(port.text.includes('18 bytes more for each packet'), port.text)
    assert.deepEqual(admin.pageErrors, [])
  })

  it('counts ports, zones and their records alike', async () => {
    await using admin = await person()
    const { page } = admin
    const ports = await open(page, '/ports')
    const devices = await open(page, '/devices')
    assert.equal(String(ports.rows.length), total(ports))
    for (const { Name, href } of devices.rows) {
      const own = ports.rows.filter(({ Device }) => Device === Name)
      const device = await open(page, href!)
      const shown = [...device.text.matchAll(/(\d+) ports?\b/g)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      )
      assert.equal(shown, own.length, Name!)
    }
    for (const { Name, Ports, href } of (await open(page, '/services')).rows) {
      const service = await open(page, href!)
      const linked = new Set(service.links.flatMap(({ href }) => (/^\/ports\/\d+$/.test(href) ? [href] : [])))
      assert.equal(String(linked.size), Ports, Name!)
    }
    for (const row of (await open(page, '/zones')).rows) {
      const zone = await open(page, row['href']!)
      assert.ok(zone.text.includes(`, ${row['Records']} records`), `${row['Records']} in ${zone.text}`)
      assert.ok(zone.text.includes(`Served by ${row['Served by']} · Serial ${row['Serial']}`), zone.text)
      assert.ok(zone.text.includes(row['Status']!), zone.text)
    }
    assert.deepEqual(admin.pageErrors, [])
  })

  it('is the traffic of a range and filter, on cards and in the explorer', async () => {
    await using admin = await person()
    const { page } = admin
    const maxima = ({ text }: Shown) => /In max (\S+ \wbps) Out max (\S+ \wbps)/.exec(text)?.slice(1)
    for (const place of ['/', '/prefixes/1', '/ports/1'])
      await until(`${place} and the explorer to show the same minutes`, async () => {
        const card = await open(page, place)
        const shown = found(
          [...card.text.matchAll(/In max (\S+ \wbps) Out max (\S+ \wbps)/g)].at(-1),
          card.text,
        )
        assert.ok(maxima(card))
        const link = found(
          card.links.find(({ text }) => text === 'Open in explorer'),
          place,
        )
        const explorer = await open(page, link.href)
        for (const [at, direction] of ['In', 'Out'].entries())
          assert.equal(rowWith(explorer, direction, 'bps')['Max'], shown[at + 1], `${place} ${direction}`)
      })
    assert.deepEqual(admin.pageErrors, [])
  })
})

const now = new Date()
/** The attacks of the demo are of the last 30 days. */
const monthOfAttacks = new Date(now.getTime() - 15 * 86_400_000).toISOString().slice(0, 7)
/** A month is closed 24 hours after its end in the time zone of the service. */
const closing = new Date(now.getTime() - 2 * 86_400_000)
const lastMonth = new Date(Date.UTC(closing.getUTCFullYear(), closing.getUTCMonth() - 1))
  .toISOString()
  .slice(0, 7)
const lastMonthText = new Date(`${lastMonth}-01T00:00:00Z`).toLocaleDateString('en', {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})
