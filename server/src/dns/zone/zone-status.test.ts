// Every combination of the facts of a zone, in code and in SQL.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { dnssecStates } from '@pharos/contract/dns/term'
import { delegationStatuses, zoneStatuses, type ZoneStatus } from '@pharos/contract/dns/zone'
import { stateMessageText } from '@pharos/contract/reason/state-message'
import { createTestDatabase, type TestDatabase } from '../../db/testing.ts'
import { statusOfZone } from './zone-status.store.ts'
import { zoneStatus, type ZoneFacts } from './zone-status.ts'

const deletions = ['none', 'leaving', 'held', 'gone'] as const
/** A failing ALIAS record: the last addresses stay, or the record has no address. */
const aliases = ['none', 'served', 'unserved'] as const
const combinations = zoneStatuses.flatMap((publication) =>
  dnssecStates.flatMap((dnssec) =>
    delegationStatuses.flatMap((delegation) =>
      [false, true].flatMap((wasDelegated) =>
        deletions.flatMap((deletion) =>
          aliases.map((alias) => ({ publication, dnssec, delegation, wasDelegated, deletion, alias })),
        ),
      ),
    ),
  ),
)
type Combination = (typeof combinations)[number]

const factsOf = ({
  publication,
  dnssec,
  delegation,
  wasDelegated,
  deletion,
  alias,
}: Combination): ZoneFacts => ({
  publication: {
    status: publication,
    reason: publication === 'error' ? 'zone_absent' : null,
    attrs: { servers: ['ns1.example.'], serving: 1, total: 2 },
  },
  dnssec: { state: dnssec, reason: dnssec === 'error' ? 'ds_mismatch' : null },
  delegation: { status: delegation, wasDelegated, assigned: ['ns1.example.'], delegated: ['ns2.example.'] },
  deletion,
  failingAliases:
    alias === 'none' ? [] : [{ name: 'a.example.', resolved: null, isUnserved: alias === 'unserved' }],
})

/** The worst status of the parts, checked one by one. */
const expectedOf = (one: Combination): ZoneStatus => {
  const { publication, dnssec, delegation, wasDelegated, deletion, alias } = one
  if (deletion !== 'none') return { leaving: 'updating', held: 'error', gone: 'ok' }[deletion] as ZoneStatus
  if (publication === 'pending_verification') return publication
  const isLost = wasDelegated && (delegation === 'elsewhere' || delegation === 'absent')
  return publication === 'error' || dnssec === 'error' || isLost || alias === 'unserved'
    ? 'error'
    : publication
}

describe('the status of a zone', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
  })
  after(() => database[Symbol.asyncDispose]())

  it('is the worst of its parts, with a reason for each, in every combination', () => {
    assert.equal(combinations.length, 4 * 6 * 6 * 2 * 4 * 3)
    for (const one of combinations) {
      const { status, reasons } = zoneStatus(factsOf(one))
      const text = JSON.stringify(one)
      assert.equal(status, expectedOf(one), text)
      assert.equal(
        status !== 'ok',
        reasons.some(({ level }) => level !== 'ok'),
        text,
      )
      const order = ['pending_verification', 'error', 'updating', 'ok']
      const places = reasons.map(({ level }) => order.indexOf(level))
      assert.deepEqual(places, places.toSorted(), text)
      for (const { tag, attrs } of reasons)
        assert.doesNotMatch(stateMessageText(tag, attrs), /undefined|null|\[object/, `${tag} ${text}`)
    }
  })

  it('names each part that is wrong', () => {
    const tags = (one: Partial<Combination>) =>
      zoneStatus(
        factsOf({
          publication: 'ok',
          dnssec: 'active',
          delegation: 'delegated',
          wasDelegated: true,
          deletion: 'none',
          alias: 'none',
          ...one,
        }),
      ).reasons.map(({ tag, severity }) => `${tag} ${severity}`)
    assert.deepEqual(tags({}), [])
    assert.deepEqual(tags({ dnssec: 'error' }), ['zone_dnssec_error error'])
    assert.deepEqual(tags({ publication: 'updating', dnssec: 'error', delegation: 'absent' }), [
      'zone_dnssec_error error',
      'zone_delegation_lost error',
      'zone_updating info',
    ])
    assert.deepEqual(tags({ delegation: 'elsewhere', wasDelegated: false }), ['zone_not_delegated warning'])
    assert.deepEqual(tags({ delegation: 'partial' }), ['zone_delegation_differs warning'])
    assert.deepEqual(tags({ alias: 'served' }), ['zone_aliases_failing warning'])
    assert.deepEqual(tags({ alias: 'unserved' }), ['zone_aliases_unserved error'])
    assert.deepEqual(tags({ publication: 'error', deletion: 'held' }), ['zone_deletion_held error'])
  })

  it('is the same in SQL, for filters and messages', async () => {
    const rows = combinations.map((one, id) => ({
      id,
      status: one.publication,
      dnssec: one.dnssec,
      delegation: one.delegation,
      seen: one.wasDelegated,
      deleted: one.deletion !== 'none',
      held: one.deletion === 'held',
      gone: one.deletion === 'gone',
      alias: one.alias,
    }))
    const { rows: found } = await sql<{ id: number; status: ZoneStatus }>`
      with given as (
        select * from json_to_recordset(${JSON.stringify(rows)}::json)
          as g (id int, status text, dnssec text, delegation text, seen boolean, deleted boolean, held boolean, gone boolean, alias text)),
      dns_delegations as (
        select id as zone_id, delegation as status, case when seen then now() end as delegated_seen from given),
      dns_aliases as (
        select id as zone_id, ''::bytea as name_key, alias = 'unserved' as is_unserved from given where alias <> 'none'),
      dns_recordsets as (select id as zone_id, ''::bytea as name_key, 65401 as type from given),
      zones as (
        select id, status, dnssec, now() as claimed, now() as published, case when deleted then now() end as deleted,
          case when gone then now() end as withdrawn, case when held then now() end as deletion_held
        from given)
      select z.id, ${statusOfZone} as status from zones z order by z.id`.execute(database.postgres.owner)
    assert.deepEqual(
      found.map(({ status }) => status),
      combinations.map((one) => zoneStatus(factsOf(one)).status),
    )
  })
})
