// ALIAS records in the table of a zone: the published addresses, and reasons for unresolved targets.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { listRecordSetsRoute, type RecordSet, type RecordSetAlias } from '@pharos/contract/dns/recordset'
import { getZoneRoute } from '@pharos/contract/dns/zone'
import type { StateMessage } from '@pharos/contract/reason/state-message'
import { skipWithoutBrowser, visit } from './browser.ts'
import { exampleOf } from './example-server.ts'
import { useExample } from './example-suite.ts'
import { assertFitsPhone, mistakesOfLook } from './page-checks.ts'

const place = '/zones/lindholm.example'

const known: RecordSetAlias = {
  status: 'ok',
  addresses: ['203.0.113.80', '2001:db8::80'],
  resolved: '2026-01-01T00:00:00.000Z',
  checked: '2026-01-01T00:00:00.000Z',
  message: null,
}

describe('ALIAS records', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  it('show their addresses, and the age of the last answer while the target fails', async () => {
    const [recorded] = exampleOf(listRecordSetsRoute).results
    const set = (name: string, alias: RecordSetAlias): RecordSet => ({
      ...recorded!,
      id: `${name}/ALIAS`,
      name,
      type: 'ALIAS',
      records: ['lb.example.net.'],
      alias,
    })
    const message = 'The resolver did not answer in time. The last known addresses stay published.'
    const results = [
      set('@', known),
      set('failing', { ...known, status: 'failing', message }),
      set('new', { ...known, status: 'pending', addresses: [], resolved: null, checked: null }),
    ]
    example.server.answer(listRecordSetsRoute, () => ({ results, count: results.length }))
    const text =
      'The targets of ALIAS records are not resolved: failing. The last known addresses stay published.'
    const state: StateMessage = {
      severity: 'warning',
      tag: 'zone_aliases_failing',
      message: text,
      attrs: {},
      timestamp: '2026-01-01T00:00:00.000Z',
    }
    example.server.answer(getZoneRoute, () => ({ ...exampleOf(getZoneRoute), state_messages: [state] }))
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page, pageErrors } = person
    await page.goto(example.server.url)
    await visit(page, place)
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    await page.getByText('Published: 203.0.113.80, 2001:db8::80').first().waitFor()
    await row('failing').getByText('Target not resolved').waitFor()
    await row('failing')
      .getByText(/did not answer in time\..*Last resolved .*ago\./)
      .waitFor()
    await row('new').getByText('Not resolved yet').waitFor()
    await page.getByText(text).waitFor()
    const [asked] = example.server.asked(listRecordSetsRoute)
    assert.equal(asked!.query.get('include'), 'alias')
    assert.deepEqual(await mistakesOfLook(page), [])
    await assertFitsPhone(page, place)
    assert.deepEqual(pageErrors, [])
  })

  it('are offered in the editor, with an example and a help text', async () => {
    example.server.reset()
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page } = person
    await page.goto(example.server.url)
    await visit(page, place)
    await page.getByRole('button', { name: 'Add record' }).click()
    await page.getByLabel('Type of the record set').first().fill('ALIAS')
    await page.getByText('One name, whose addresses are published here; also for the zone itself.').waitFor()
    assert.equal(
      await page.getByLabel('Values, one per line').first().getAttribute('placeholder'),
      'lb.example.net.',
    )
  })
})
