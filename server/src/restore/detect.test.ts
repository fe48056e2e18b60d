// The conclusion of a process from its witness and from the database.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compareIdentity, compareWitness, type DatabaseNow } from './detect.ts'
import type { DatabaseIdentity, Witness } from './witness.ts'

const headAt = (sequence: number) => ({ sequence, hash: Buffer.alloc(32, sequence) })
const place = (oid: number, systemIdentifier = '1'): DatabaseIdentity => ({
  systemIdentifier,
  oid,
  timeline: 1,
})

const witness: Witness = {
  installation: 'ours',
  database: place(7),
  head: headAt(100),
  closed: '',
  at: '2026-04-01T10:00:00.000Z',
}
const seen: DatabaseNow = {
  installation: 'ours',
  openId: null,
  closed: '',
  head: headAt(120),
  headAt: '2026-04-01T10:00:05.000Z',
  contained: true,
  first: 1,
  at: '2026-04-01T10:00:06.000Z',
}
const shorter: DatabaseNow = { ...seen, head: headAt(80), contained: false }

describe('the witness', () => {
  it('agrees while the chain contains its head, as after a failover that keeps it', () => {
    assert.equal(compareWitness(witness, seen), 'agrees')
    assert.equal(compareWitness(witness, { ...seen, head: headAt(100) }), 'agrees')
  })

  it('notices a shorter chain, and a longer one with another past', () => {
    assert.equal(compareWitness(witness, shorter), 'went_back')
    assert.equal(compareWitness(witness, { ...seen, contained: false }), 'went_back')
    assert.equal(compareWitness(witness, { ...shorter, head: null, first: null }), 'went_back')
  })

  it('notices a backup from before the installation had an id', () => {
    assert.equal(compareWitness(witness, { ...shorter, installation: null }), 'went_back')
  })

  it('accepts a chain about which staff have decided since, once', () => {
    const decided = { ...shorter, closed: '2026-04-01T11:00:00.000000Z' }
    assert.equal(compareWitness(witness, decided), 'decided')
    assert.equal(compareWitness({ ...witness, closed: decided.closed }, decided), 'went_back')
  })

  it('says nothing about another installation, or about entries that the retention has deleted', () => {
    assert.equal(compareWitness(witness, { ...shorter, installation: 'theirs' }), 'unknown')
    assert.equal(compareWitness(witness, { ...shorter, installation: null, head: null }), 'unknown')
    assert.equal(compareWitness(witness, { ...shorter, first: 101 }), 'unknown')
    assert.equal(compareWitness(undefined, { ...seen, contained: null }), 'unknown')
  })
})

describe('another place of the database', () => {
  const [before, after] = [place(7), place(9)]

  it('is no news if it was confirmed before, whatever the timeline is', () => {
    assert.equal(compareIdentity('unknown', undefined, seen, before, { ...before, timeline: 2 }), 'same')
    assert.equal(compareIdentity('unknown', undefined, seen, null, after), 'confirmed')
  })

  it('is a move if a process remembers its newest entries, and a restore if none does', () => {
    assert.equal(compareIdentity('agrees', witness, seen, before, after), 'confirmed')
    assert.equal(compareIdentity('unknown', undefined, seen, before, after), 'other_database')
    assert.equal(compareIdentity('went_back', witness, shorter, before, after), 'other_database')
    assert.equal(compareIdentity('decided', witness, shorter, before, after), 'confirmed')
  })

  it('is not confirmed by a process that stopped long before the newest entry', () => {
    const later = { ...seen, headAt: '2026-04-01T12:00:00.000Z' }
    assert.equal(compareIdentity('agrees', witness, later, before, after), 'other_database')
  })
})
