// The six rules, as a table: what is known about the subject and the address, and what follows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decideLink, type AccountFacts, type LinkFacts } from './link.ts'

const member: AccountFacts = { id: 1, isReserved: false, isMember: true, isOwned: true }
const bare: AccountFacts = { id: 2, isReserved: false, isMember: false, isOwned: false }
const owned: AccountFacts = { id: 3, isReserved: false, isMember: false, isOwned: true }
const staff: AccountFacts = { id: 4, isReserved: true, isMember: true, isOwned: true }
const linked = (account: AccountFacts, isSuspended = false) => ({ account, isSuspended })

const unknown: LinkFacts = { identity: null, email: 'stated', isDomainBound: true, account: null }

type Row = readonly [name: string, facts: Partial<LinkFacts>, expected: object]
const table: readonly Row[] = [
  ['1: a known subject', { identity: linked(owned) }, { kind: 'known', userId: 3 }],
  [
    '1: a known subject, whatever the address is now',
    { identity: linked(member), email: 'missing', isDomainBound: false },
    { kind: 'known', userId: 1 },
  ],
  [
    '1: a known subject whose address is that of another account now',
    { identity: linked(member), account: owned },
    { kind: 'known', userId: 1 },
  ],
  [
    '1: a known subject that became staff',
    { identity: linked(staff) },
    { kind: 'refuse', reason: 'not_assigned' },
  ],
  [
    '2: a suspended link, while the domain is not bound',
    { identity: linked(member, true), isDomainBound: false, account: member },
    { kind: 'refuse', reason: 'domain_not_yours' },
  ],
  [
    '2: a suspended link, with an address in another bound domain',
    { identity: linked(member, true), account: member },
    { kind: 'link', userId: 1 },
  ],
  [
    '2: a suspended link, with the address of another account',
    { identity: linked(member, true), account: owned },
    { kind: 'refuse', reason: 'linked_elsewhere' },
  ],
  [
    '2: a suspended link, with the address of no account',
    { identity: linked(member, true) },
    { kind: 'refuse', reason: 'linked_elsewhere' },
  ],
  ['2: no address', { email: 'missing' }, { kind: 'refuse', reason: 'email_missing' }],
  [
    '2: an address that is not verified',
    { email: 'unverified' },
    { kind: 'refuse', reason: 'email_unverified' },
  ],
  [
    '2: an address of another domain',
    { isDomainBound: false },
    { kind: 'refuse', reason: 'domain_not_yours' },
  ],
  [
    '2: an address of another domain, of a member',
    { isDomainBound: false, account: member },
    { kind: 'refuse', reason: 'domain_not_yours' },
  ],
  ['3: staff', { account: staff }, { kind: 'refuse', reason: 'not_assigned' }],
  ['4: a member', { account: member }, { kind: 'link', userId: 1 }],
  ['4: an account that nothing else opens', { account: bare }, { kind: 'link', userId: 2 }],
  ['5: any other account', { account: owned }, { kind: 'ask', userId: 3 }],
  ['6: no account', {}, { kind: 'create' }],
]

for (const [name, facts, expected] of table)
  test(name, () => assert.deepEqual(decideLink({ ...unknown, ...facts }), expected))
