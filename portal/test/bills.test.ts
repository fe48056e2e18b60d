// The bills of a service: a month that waits for the provider, a corrected one, and one whose terms changed.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { listStaffBillsRoute } from '@pharos/contract/operator/bill'
import { listBillablePortsRoute, listBillingPeriodsRoute } from '@pharos/contract/inventory/bill'
import { skipWithoutBrowser, visit } from './browser.ts'
import { exampleOf, staff } from './example-server.ts'
import { useExample } from './example-suite.ts'
import { assertFitsPhone, mistakesOfLook } from './page-checks.ts'

const place = '/services/1'

describe('the bills of a service', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  it('say who decides about missing samples, what was decided, and which part of the month they are of', async () => {
    const [bill] = exampleOf(listBillablePortsRoute).results
    const [period] = exampleOf(listBillingPeriodsRoute).results
    const border = '2026-03-16T00:00:00.000Z'
    const parts = [
      {
        ...bill!,
        samples: 3000,
        missing_samples: 900,
        review: 'missing_samples' as const,
        period_end: border,
      },
      {
        ...bill!,
        period_start: border,
        corrects: 370,
        correction_reason: 'Agreed with the customer.',
        credit_note: {
          corrects: 370,
          billable_bps: -2_000_000_000,
          billable_octets: null,
          overage_bps: -1_000_000_000,
          overage_octets: null,
          currency: 'EUR',
          amount: '-1100.00',
        },
      },
    ]
    example.server.answer(listBillablePortsRoute, () => ({ results: parts, count: 2 }))
    const past = [
      { ...period!, bill_id: 370, corrected_by: 371 },
      { ...period!, bill_id: 371, corrects: 370, review: 'missing_samples' as const },
    ]
    example.server.answer(listBillingPeriodsRoute, () => ({ results: past, count: 2 }))
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page, pageErrors } = person
    await page.goto(example.server.url)
    await visit(page, place)
    const text = await page.locator('main').innerText()
    for (const shown of [
      '900 of 3,900 samples are missing. The provider decides whether this bill stays or is corrected.',
      'Decided by the provider: Agreed with the customer.',
      'replaced by bill 371',
      'provider decides',
      '95th percentile, greater of in and out',
      'Credit note for bill 370: −2 Gbps, −1,100.00 EUR',
      '0.40 per Mbps',
      '4,858.41 EUR',
      'Each line is rounded to 2 decimals, halves up. The total is the sum of the lines.',
    ])
      assert.ok(text.includes(shown), `${shown} in ${text}`)
    assert.equal(await page.getByText('Until', { exact: true }).count(), 2)
    assert.deepEqual(await mistakesOfLook(page), [])
    await assertFitsPhone(page, place)
    assert.deepEqual(pageErrors, [])
  })

  it('are listed for staff of all customers, with the lines and the credit note of the one that is opened', async () => {
    example.server.reset()
    example.server.user = staff
    const [bill] = exampleOf(listStaffBillsRoute).results
    const credit = {
      corrects: 371,
      billable_bps: -10_448_120,
      billable_octets: null,
      overage_bps: -10_448_120,
      overage_octets: null,
      currency: 'EUR',
      amount: '-5.75',
    }
    const listed = [
      { ...bill!, corrected_by: 380 },
      { ...bill!, bill_id: 380, corrects: 371, correction_reason: 'Agreed.', credit_note: credit },
      { ...bill!, bill_id: 390, service: 'Pool', port_id: null, review: 'missing_samples' as const },
    ]
    const months: (string | null)[] = []
    example.server.answer(listStaffBillsRoute, ({ query }) => {
      months.push(query.get('period'))
      return { results: listed, count: 3 }
    })
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page, pageErrors } = person
    await page.goto(example.server.url)
    await visit(page, '/staff/bills?period=2026-03')
    await page.getByText('Needs a decision').waitFor()
    const text = await page.locator('main').innerText()
    for (const shown of ['Replaced by 380', 'Corrects bill 371', 'March 2026', '4,858.41 EUR', 'lindholm'])
      assert.ok(text.includes(shown), `${shown} in ${text}`)
    assert.equal(months.at(-1), '2026-03')
    await page.getByText('Corrects bill 371').click()
    const panel = page.getByRole('complementary', { name: 'Bill 380' })
    await panel.getByText('Credit note for bill 371: −10.4 Mbps, −5.75 EUR').waitFor()
    await panel.getByText('0.55 per Mbps').waitFor()
    assert.deepEqual(await mistakesOfLook(page), [])
    await assertFitsPhone(page, '/staff/bills')
    assert.deepEqual(pageErrors, [])
  })
})
