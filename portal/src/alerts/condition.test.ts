// Conditions of alert rules as values of a form, and back.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AlertCondition, AlertRule } from '@pharos/contract/alert/alert-rule'
import {
  conditionOf,
  conditionText,
  minutesText,
  quantityText,
  valuesOfDraft,
  valuesOfRule,
} from './condition.ts'

const conditions: readonly AlertCondition[] = [
  { kind: 'port_utilisation', port_id: 1, direction: 'in', above_percent: 80, for_minutes: 15 },
  { kind: 'commit', service_id: 2, port_id: 7, measure: 'forecast', above_percent: 110 },
  { kind: 'commit', service_id: 2, port_id: null, measure: 'percentile', above_percent: 100 },
  { kind: 'light_margin', port_id: 1, below_db: -0.5, for_minutes: 90 },
  { kind: 'visibility', announcement_id: 3, heard_below_percent: 50, for_minutes: 60 },
]

describe('a condition', () => {
  it('stays the same as values of the form', () => {
    const rule = { name: 'a', clear_minutes: 15, severity: 'info' } as AlertRule
    for (const condition of conditions)
      assert.deepEqual(conditionOf(valuesOfRule({ ...rule, condition })), condition)
  })

  it('is missing until an object and a possible limit and time are entered', () => {
    const values = { ...valuesOfDraft({ kind: 'port_utilisation', object: 1 }), threshold: 80 }
    assert.ok(conditionOf(values))
    assert.equal(conditionOf({ ...values, object: '' }), undefined)
    assert.equal(conditionOf({ ...values, threshold: '' }), undefined)
    assert.equal(conditionOf({ ...values, threshold: 101 }), undefined)
    assert.equal(conditionOf({ ...values, for_minutes: 4 }), undefined)
  })

  it('is a phrase', () => {
    assert.deepEqual(conditions.map(conditionText), [
      'Received traffic above 80 % of the speed for 15 min',
      'Forecast above 110 % of the commit',
      'Billed rate above 100 % of the commit',
      'Light margin below -0.5 dB for 1 h 30 min',
      'Heard by less than 50 % for 1 h',
    ])
  })

  it('has quantities and times in words', () => {
    assert.deepEqual(
      [quantityText(84.06, 'percent'), minutesText(0), minutesText(120)],
      ['84.1 %', '0 min', '2 h'],
    )
  })
})
