import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Visibility } from '@pharos/contract/byoip/visibility'
import { moreSpecificsText, originsText, visibilityText } from './visibility-text.ts'

const now = Date.parse('2026-03-01T10:20:00Z')
const at = '2026-03-01T10:00:00.000Z'

const sample = (rest: Partial<Visibility> = {}): Visibility => ({
  state: 'current',
  reason: null,
  message: null,
  collectors_total: 300,
  collectors_seeing: 287,
  origins: [{ asn: 64496, count: 287, expected: true }],
  more_specifics: [],
  rpki: 'valid',
  checked: at,
  last_change: { at, kind: 'announced', seconds_to_80pct: 41 },
  zombie: false,
  ...rest,
})

describe('the text of visibility', () => {
  const textOf = (rest: Partial<Visibility>) => visibilityText(sample(rest), now)

  it('has the counts and the propagation time', () => {
    assert.equal(textOf({}), 'Seen by 287 of 300 collectors; reached 80 % after 41 s.')
    assert.equal(
      textOf({ last_change: { at, kind: 'announced', seconds_to_80pct: null } }),
      'Seen by 287 of 300 collectors.',
    )
    assert.equal(textOf({ collectors_seeing: 0, last_change: null }), 'Seen by none of 300 collectors.')
  })

  it('has the time of a withdrawal', () => {
    const change = { at, kind: 'withdrawn', seconds_to_80pct: 95 } as const
    assert.equal(
      textOf({ collectors_seeing: 0, last_change: change }),
      'Seen by none of 300 collectors; withdrawn 20 minutes ago, gone from 80 % after 1 min 35 s.',
    )
    assert.equal(
      textOf({ collectors_seeing: 2, last_change: { ...change, seconds_to_80pct: null } }),
      'Seen by 2 of 300 collectors; withdrawn 20 minutes ago.',
    )
  })

  it('has a zombie', () => {
    const change = { at, kind: 'withdrawn', seconds_to_80pct: null } as const
    assert.equal(
      textOf({ collectors_seeing: 12, zombie: true, last_change: change }),
      'Still seen at 12 collectors although withdrawn 20 minutes ago.',
    )
  })

  it('is a lower bound of partial data, and none without data', () => {
    assert.equal(
      textOf({ state: 'partial', collectors_seeing: 1, last_change: null }),
      'Seen by at least 1 collector.',
    )
    assert.equal(textOf({ state: 'unavailable', collectors_seeing: null, collectors_total: null }), undefined)
  })

  it('names the origins and parts of other networks only', () => {
    assert.equal(originsText(sample()), undefined)
    assert.equal(moreSpecificsText(sample()), undefined)
    const origins = [
      { asn: 64496, count: 280, expected: true },
      { asn: 64511, count: 1, expected: false },
    ]
    assert.equal(
      originsText(sample({ origins })),
      'Origins: AS64496 at 280 collectors, AS64511 (another network) at 1 collector.',
    )
    const more_specifics = [{ cidr: '203.0.113.0/25', asn: 64511, count: 9 }]
    assert.equal(
      moreSpecificsText(sample({ more_specifics })),
      'Parts announced by other networks: 203.0.113.0/25 by AS64511 at 9 collectors.',
    )
  })
})
