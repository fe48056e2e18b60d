// The whole life of a zone in a real browser: created, imported from a zone file, signed, changed, undone, rolled back and deleted. After
// each step the API, the table of the portal and the built-in name server have the same records.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, it } from 'node:test'
import { ProblemError, type createClient } from '@pharos/contract/client'
import { getDnssecRoute } from '@pharos/contract/dns/dnssec'
import { listRecordSetsRoute, type RecordSet } from '@pharos/contract/dns/recordset'
import { getZoneRoute } from '@pharos/contract/dns/zone'
import type { Browser, Page } from 'playwright-core'
import type { NameServer } from '../../server/src/dns/publish/name-server.ts'
import { createFollower } from '../../server/src/drivers/dns-follower/name-server.ts'
import { rcode } from '../../server/src/net/dns/message.ts'
import { parseName } from '../../server/src/net/dns/name.ts'
import { printRdata } from '../../server/src/net/dns/rdata/rdata.ts'
import { recordClass, recordType } from '../../server/src/net/dns/type.ts'
import { openBrowser, openPerson, settled, skipWithoutBrowser, until } from './browser.ts'
import { Demo } from './demo.ts'
import { asUser } from './sample-data.ts'

const name = 'grove.example'
const file = readFileSync(new URL('../../demo/zones/harbor.example.zone', import.meta.url), 'utf8')
/** The records of the file; SOA and NS of the zone itself are managed. */
const imported = [
  '@/A',
  '@/AAAA',
  '@/CAA',
  '@/MX',
  '@/TXT',
  '*.lab/A',
  '_sip._udp/SRV',
  'game/A',
  'mail/A',
  'mail/AAAA',
]

const demo = new Demo()
let browser: Browser
let call: ReturnType<typeof createClient>
let server: NameServer
const skip = skipWithoutBrowser()
before(async () => {
  if (skip !== false) return
  await demo.start()
  browser = await openBrowser()
  call = await asUser(demo.url, 'demo@demo.example')
  server = createFollower({ address: '127.0.0.1', port: demo.dnsPort })
})
after(async () => {
  await browser?.close()
  await server?.close()
  await demo.stop()
})

it(
  'keeps the portal, the API and the name server alike from the first record to the deletion',
  { skip },
  async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, 'demo@demo.example')
    const tab = (label: string) => page.getByRole('tab', { name: label }).click()

    await page.goto(`${demo.url}/zones/new`)
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('switch', { name: 'Sign with DNSSEC' }).uncheck({ force: true })
    await page.getByRole('button', { name: 'Create zone' }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await agree(page, ['@/NS', '@/SOA'])

    await tab('Import and export')
    const drop = await page.evaluateHandle((content) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([content], 'grove.example.zone', { type: 'text/dns' }))
      return transfer
    }, file)
    await page.locator('[data-drop]').dispatchEvent('drop', { dataTransfer: drop })
    await page.getByRole('button', { name: 'Check file' }).click()
    await page.getByText('2 lines not applied').waitFor()
    await page.getByRole('button', { name: 'Apply import' }).click()
    const whole = ['@/NS', '@/SOA', ...imported, 'www/CNAME']
    await agree(page, whole)

    await tab('DNSSEC')
    await page.getByRole('button', { name: 'Enable DNSSEC' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Enable DNSSEC' }).click()
    await page.locator('[data-ds]').first().waitFor()
    await signed(page)
    await tab('Records')
    await agree(page, whole)

    await page.getByRole('button', { name: 'Edit mail/A', exact: true }).click()
    await page.getByLabel('Values, one per line').fill('198.51.100.26\n198.51.100.27')
    await page.getByRole('button', { name: 'Delete game/A', exact: true }).click()
    await page.getByRole('button', { name: 'Review changes' }).click()
    const plan = page.getByRole('dialog', { name: 'Review changes' })
    await plan.getByText('0 added, 1 changed, 1 deleted').waitFor()
    await plan.getByRole('button', { name: 'Apply' }).click()
    await page.getByText(/^Version \d+ published/).waitFor()
    const changed = await agree(
      page,
      whole.filter((id) => id !== 'game/A'),
    )
    assert.deepEqual(recordsOf(changed, 'mail/A'), ['198.51.100.26', '198.51.100.27'])

    await page.getByRole('button', { name: 'Undo' }).click()
    const undone = await agree(page, whole)
    assert.deepEqual(recordsOf(undone, 'mail/A'), ['198.51.100.25'])

    await tab('History')
    await page.getByRole('button', { name: 'Roll back to version 1', exact: true }).click()
    await page.getByRole('dialog').getByText('0 added, 0 changed, 11 deleted').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click()
    await page.getByText('The records are those of version 1 again.').waitFor()
    await tab('Records')
    await agree(page, ['@/NS', '@/SOA'])

    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete zone' }).click()
    await page.getByLabel(/Type the name/).fill(name)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete zone' }).click()
    await page.getByRole('heading', { name: 'Zones', level: 1 }).waitFor()
    await settled(page)
    assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0)
    await assert.rejects(
      call(getZoneRoute, { params: { zone: name } }),
      (error) => error instanceof ProblemError && error.problem.code === 'not_found',
    )
    await until('the zone to be gone from the name server', async () =>
      assert.equal((await ask('@', 'SOA')).rcode, rcode.REFUSED),
    )

    assert.deepEqual(pageErrors, [])
    await context.close()
  },
)

const question = (owner: string, type: string) => ({
  name: parseName(owner === '@' ? `${name}.` : `${owner}.${name}.`),
  type: recordType[type as keyof typeof recordType],
  class: recordClass.IN,
})
const ask = (owner: string, type: string, isSigned = false) =>
  server.ask(question(owner, type), isSigned ? { edns: { udpSize: 1232, do: true } } : {})

const recordsOf = (sets: readonly RecordSet[], id: string) => sets.find((set) => set.id === id)?.records

/** Waits until the three have the sets of these ids with the same records; returns them. */
async function agree(page: Page, ids: readonly string[]): Promise<readonly RecordSet[]> {
  let sets: readonly RecordSet[] = []
  await until('portal, API and name server to agree', async () => {
    const { body } = await call(listRecordSetsRoute, { params: { zone: name }, query: { limit: 1000 } })
    sets = body.results
    assert.deepEqual(sets.map(({ id }) => id).sort(), [...ids].sort())
    for (const { name: owner, type, records } of sets) {
      const { answers, aa } = await ask(owner, type)
      const code = recordType[type as keyof typeof recordType]
      const served = answers
        .filter((record) => record.type === code)
        .map(({ rdata }) => printRdata(code, rdata))
      assert.equal(aa, true)
      assert.deepEqual([owner, type, ...served.sort()], [owner, type, ...records.toSorted()])
    }
    // The page begins with the SOA, the API is ordered by name and type.
    assert.deepEqual(
      (await rowsOf(page)).toSorted(byText),
      sets.map(({ name: owner, type, records }) => [owner, type, ...records]).toSorted(byText),
    )
  })
  return sets
}

const byText = (a: readonly string[], b: readonly string[]): number => (a.join() < b.join() ? -1 : 1)

const rowsOf = (page: Page): Promise<string[][]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('table[aria-label="Record sets"] tbody tr')].map((row) => {
      const cells = [...row.querySelectorAll('td')].map((cell) => cell.textContent)
      const values = [...row.querySelectorAll('td:nth-child(5) > div:first-child > div')]
      return [cells[1]!, cells[2]!, ...values.map((value) => value.textContent)]
    }),
  )

/** Waits until the name server signs, and compares the DS records of the API with the page. */
async function signed(page: Page): Promise<void> {
  await until('the zone to be signed', async () => {
    const { answers } = await ask('@', 'MX', true)
    assert.ok(answers.some(({ type }) => type === recordType.RRSIG))
    assert.ok((await ask('@', 'DNSKEY')).answers.length > 0)
    const { body } = await call(getDnssecRoute, { params: { zone: name } })
    const shown = await page.locator('[data-ds] dd').allTextContents()
    for (const ds of body.ds_records) {
      const [keyTag, , , digest] = ds.split(' ')
      assert.ok(shown.some((text) => text.trim() === keyTag) && shown.some((text) => text.includes(digest!)))
    }
    assert.ok(body.ds_records.length > 0)
  })
}
