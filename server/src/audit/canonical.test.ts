import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import { sql } from 'kysely'
import { createTestDatabase } from '../db/testing.ts'
import { canonicalText, chainStart, sealedColumns, sealHash, type EntryText } from './canonical.ts'

const database = await createTestDatabase()
after(() => database[Symbol.asyncDispose]())

const value = fc.option(fc.oneof(fc.string({ unit: codePoint }), fc.constantFrom('-', '1:a\nat -', '0:', '')))
const entries = fc.record(
  Object.fromEntries(sealedColumns.map((column) => [column, value])),
) as unknown as fc.Arbitrary<EntryText>

describe('the canonical text of an entry', () => {
  it('has exactly this format', () => {
    const entry = {
      id: '7',
      at: '1767225600000001',
      team_id: '3',
      actor: 'user:12',
      credential: 'session:5f0c',
      by_staff: 'false',
      action: 'team.update',
      target: 'team:3',
      before: '{"name": "Zürich"}',
      after: null,
      request_id: '',
      address: '2001:db8::7/128',
    }
    const text =
      'pharos audit 1\nsequence 42\nid 1:7\nat 16:1767225600000001\nteam_id 1:3\nactor 7:user:12\n' +
      'credential 12:session:5f0c\nby_staff 5:false\naction 11:team.update\ntarget 6:team:3\n' +
      'before 19:{"name": "Zürich"}\nafter -\nrequest_id 0:\naddress 15:2001:db8::7/128\n'
    assert.equal(canonicalText(42, entry), text)
    assert.equal(
      sealHash(Buffer.alloc(32, 1), chainStart, 42, entry).toString('hex'),
      'e836e2a7a0ced89c41a9388be6b66037ac2c8f2cffb980055a65d339e9ce10c8',
    )
  })

  it('contains every column of the table', async () => {
    const { rows } = await sql<{ name: string }>`
      select attname as name from pg_attribute
      where attrelid = 'audit_entries'::regclass and attnum > 0 and not attisdropped`.execute(
      database.postgres.owner,
    )
    assert.deepEqual(rows.map(({ name }) => name).toSorted(), [...sealedColumns].toSorted())
  })

  it('differs for different entries and for different positions', () => {
    fc.assert(
      fc.property(entries, entries, fc.nat(), fc.nat(), (one, other, at, place) => {
        const isSame = at === place && sealedColumns.every((column) => one[column] === other[column])
        assert.equal(canonicalText(at, one) === canonicalText(place, other), isSame)
      }),
    )
    fc.assert(
      fc.property(entries, fc.constantFrom(...sealedColumns), value, (entry, column, changed) => {
        const same = entry[column] === changed
        assert.equal(canonicalText(1, entry) === canonicalText(1, { ...entry, [column]: changed }), same)
      }),
    )
  })
})
