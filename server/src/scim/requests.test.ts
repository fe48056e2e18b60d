// The requests that Entra ID and Okta document, and mutated filters and paths. The bodies are written from the vendors' public documentation.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { ScimError } from './error.ts'
import { parseFilter, parsePath } from './filter.ts'
import { parseGroup, patchGroup } from './group.ts'
import { parsePatch } from './patch.ts'
import { parseUser, patchUser, type UserFields } from './user.ts'

const patchSchema = ['urn:ietf:params:scim:api:messages:2.0:PatchOp']
const anna: UserFields = {
  user_name: 'anna@red.example',
  external_id: 'x-1',
  email: 'anna@red.example',
  display_name: 'Anna Berg',
  given_name: 'Anna',
  family_name: 'Berg',
  active: true,
}
const uuid = (digit: number) => `0f8fad5b-d9cb-469f-a165-70867728950${digit}`

describe('POST and PUT of a user', () => {
  const requests: Record<string, [body: object, expected: Partial<UserFields>]> = {
    'Entra ID, with the enterprise extension': [
      {
        schemas: [
          'urn:ietf:params:scim:schemas:core:2.0:User',
          'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
        ],
        externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
        userName: 'Anna@red.example',
        active: true,
        emails: [{ primary: true, type: 'work', value: 'anna@red.example' }],
        meta: { resourceType: 'User' },
        name: { formatted: 'Anna Berg', familyName: 'Berg', givenName: 'Anna' },
        roles: [],
        addresses: [{ type: 'work', streetAddress: '1 Main St' }],
        title: 'Engineer',
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': {
          department: 'NOC',
          manager: { value: '1' },
        },
      },
      { ...anna, user_name: 'Anna@red.example', external_id: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef' },
    ],
    'Okta, with a password and a locale': [
      {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName: 'anna@red.example',
        name: { givenName: 'Anna', familyName: 'Berg' },
        emails: [{ primary: true, value: 'anna@red.example', type: 'work' }],
        displayName: 'Anna Berg',
        locale: 'en-US',
        externalId: 'x-1',
        groups: [],
        password: '1mz050nq',
        active: true,
      },
      anna,
    ],
    'the first address without a primary one, and names in other cases': [
      {
        USERNAME: 'anna',
        Emails: [
          { Type: 'home', Value: 'home@red.example' },
          { type: 'work', value: 'anna@red.example' },
        ],
        Active: 'False',
      },
      { user_name: 'anna', email: 'anna@red.example', active: false },
    ],
    'userName as the address': [
      { userName: 'anna@RED.example', emails: [] },
      { email: 'anna@red.example', active: true },
    ],
  }
  for (const [name, [body, expected]] of Object.entries(requests))
    it(name, () => assert.deepEqual({ ...parseUser(body), ...expected }, parseUser(body)))

  it('without active leaves a leaver as they are', () => {
    assert.equal(parseUser({ userName: 'anna@red.example' }, { ...anna, active: false }).active, false)
  })
})

describe('PATCH of a user', () => {
  const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
  const requests: Record<string, [operations: object[], changes: Partial<UserFields>]> = {
    'Entra ID disables': [[{ op: 'Replace', path: 'active', value: 'False' }], { active: false }],
    'Entra ID disables, with the flag aadOptscim062020': [
      [{ op: 'replace', path: 'active', value: false }],
      { active: false },
    ],
    'Okta disables': [[{ op: 'replace', value: { active: false } }], { active: false }],
    'Entra ID changes the address': [
      [{ op: 'Replace', path: 'emails[type eq "work"].value', value: 'anne@red.example' }],
      { email: 'anne@red.example' },
    ],
    'Entra ID adds names and ignored attributes': [
      [
        { op: 'Add', path: 'name.givenName', value: 'Anne' },
        { op: 'Add', path: `${enterprise}:department`, value: 'NOC' },
        { op: 'Replace', path: `${enterprise}:manager`, value: [{ value: '1' }] },
        { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '1' },
        { op: 'Add', path: 'title', value: 'Engineer' },
      ],
      { given_name: 'Anne' },
    ],
    'Entra ID without paths, with names that have dots': [
      [
        {
          op: 'replace',
          value: {
            displayName: 'Anne B',
            'name.familyName': 'B',
            'emails[type eq "work"].value': 'anne@red.example',
            [enterprise]: { department: 'NOC' },
          },
        },
      ],
      { display_name: 'Anne B', family_name: 'B', email: 'anne@red.example' },
    ],
    'an address of another type changes nothing': [
      [{ op: 'add', path: 'emails[type eq "home"].value', value: 'home@red.example' }],
      {},
    ],
    'a list of addresses': [
      [
        {
          op: 'replace',
          path: 'emails',
          value: [{ value: 'a@red.example' }, { value: 'b@red.example', primary: 'True' }],
        },
      ],
      { email: 'b@red.example' },
    ],
    'a whole name': [
      [{ op: 'replace', path: 'name', value: { givenName: 'A', familyName: 'B' } }],
      { given_name: 'A', family_name: 'B' },
    ],
    'with the URN of the core schema': [
      [{ op: 'replace', path: 'urn:ietf:params:scim:schemas:core:2.0:User:externalId', value: 'x-2' }],
      { external_id: 'x-2' },
    ],
    'removed attributes': [
      [
        { op: 'remove', path: 'externalId' },
        { op: 'Remove', path: 'displayName' },
      ],
      { external_id: null, display_name: '' },
    ],
  }
  for (const [name, [Operations, changes]] of Object.entries(requests))
    it(name, () =>
      assert.deepEqual(patchUser(anna, parsePatch({ schemas: patchSchema, Operations })), {
        ...anna,
        ...changes,
      }),
    )
})

describe('a large PATCH', () => {
  const many = Object.fromEntries(Array.from({ length: 150_000 }, (_, n) => [`a${n}`, 'x']))
  const part = Object.fromEntries(Object.entries(many).slice(0, 600))

  it('has at most 1,000 operations, whether or not they have a path', () => {
    const isTooMany = (error: unknown) => error instanceof ScimError && error.condition === 'tooMany'
    const parse = (operations: object[]) => parsePatch({ Operations: operations })
    assert.throws(() => parse([{ op: 'add', value: many }]), isTooMany)
    assert.throws(() => parse([part, part].map((value) => ({ op: 'add', value }))), isTooMany)
    assert.equal(parse([{ op: 'add', value: part }]).length, 600)
  })

  it('of a name with unknown parts sets the known ones', () => {
    const value = { ...many, givenName: 'Anne' }
    const changed = patchUser(anna, parsePatch({ Operations: [{ op: 'add', path: 'name', value }] }))
    assert.deepEqual(changed, { ...anna, given_name: 'Anne' })
  })
})

describe('PATCH of a group', () => {
  const group = { display_name: 'net-ops', external_id: null }
  const change = (operations: object[]) => {
    const { fields, members } = patchGroup(
      group,
      parsePatch({ schemas: patchSchema, Operations: operations }),
    )
    return { ...fields, ...members, added: [...members.added], removed: [...members.removed] }
  }
  const unchanged = { ...group, replaces: false, added: [], removed: [] }
  const requests: Record<string, [operations: object[], changes: object]> = {
    'Entra ID adds members': [
      [
        {
          op: 'Add',
          path: 'members',
          value: [
            { $ref: null, value: uuid(1) },
            { $ref: null, value: uuid(2) },
          ],
        },
      ],
      { added: [uuid(1), uuid(2)] },
    ],
    'Entra ID removes by value': [
      [{ op: 'Remove', path: 'members', value: [{ $ref: null, value: uuid(1) }] }],
      { removed: [uuid(1)] },
    ],
    'Okta removes by filter': [
      [{ op: 'remove', path: `members[value eq "${uuid(1)}"]` }],
      { removed: [uuid(1)] },
    ],
    'Okta replaces all': [
      [{ op: 'replace', path: 'members', value: [{ value: uuid(1), display: 'anna' }] }],
      { replaces: true, added: [uuid(1)] },
    ],
    'Okta renames': [
      [{ op: 'replace', value: { id: uuid(9), displayName: 'noc' } }],
      { display_name: 'noc' },
    ],
    'Entra ID renames': [[{ op: 'Replace', path: 'displayName', value: 'noc' }], { display_name: 'noc' }],
    'all members are removed': [[{ op: 'remove', path: 'members' }], { replaces: true }],
    'a member that is removed and added stays': [
      [
        { op: 'remove', path: `members[value eq "${uuid(1)}"]` },
        { op: 'add', path: 'members', value: [{ value: uuid(1).toUpperCase() }] },
      ],
      { added: [uuid(1)] },
    ],
    'members are added after all were replaced': [
      [
        { op: 'replace', path: 'members', value: [] },
        { op: 'add', path: 'members', value: { value: uuid(3) } },
      ],
      { replaces: true, added: [uuid(3)] },
    ],
  }
  for (const [name, [operations, changes]] of Object.entries(requests))
    it(name, () => assert.deepEqual(change(operations), { ...unchanged, ...changes }))

  it('keeps a name as it is sent', () => {
    const displayName = ' Ops "A" [1] é\u0301 '
    assert.equal(parseGroup({ displayName }).fields.display_name, displayName)
  })
})

describe('any text', () => {
  const piece = fc.constantFrom(
    '(',
    ')',
    '[',
    ']',
    ' ',
    ' and ',
    ' eq ',
    '"',
    '\\',
    '"a"',
    'userName',
    'emails.value',
    'urn:a:b:',
    '.',
    'true',
    '-1',
    '1e9',
    '\u0000',
    '💣',
  )
  const texts = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.array(piece, { maxLength: 40 }).map((all) => all.join('')),
  )
  const ends = (parse: () => unknown) => {
    try {
      parse()
    } catch (error) {
      assert.ok(error instanceof ScimError, String(error))
    }
  }

  it('is a filter and a path, or an error of SCIM', () => {
    fc.assert(
      fc.property(texts, (text) => {
        ends(() => parseFilter(text))
        ends(() => parsePath(text))
      }),
      { numRuns: 3_000 },
    )
  })

  it('of conditions that are joined is parsed to these conditions', () => {
    const attribute = fc.constantFrom('username', 'emails.value', 'active')
    const value = fc.oneof(fc.string({ maxLength: 30 }), fc.boolean(), fc.constant(null), fc.integer())
    const term = fc.record({ attribute, value }, { noNullPrototype: true })
    fc.assert(
      fc.property(fc.array(term, { minLength: 1, maxLength: 8 }), fc.boolean(), (terms, grouped) => {
        const written = terms.map(({ attribute, value }) => `${attribute} EQ ${JSON.stringify(value)}`)
        const filter = grouped ? written.map((one) => `(${one})`).join(' AND ') : written.join(' and ')
        assert.deepEqual(parseFilter(filter), terms)
      }),
      { numRuns: 1_000 },
    )
  })

  it('in a body is a user and operations, or an error of SCIM', () => {
    const names = [
      'userName',
      'emails',
      'name',
      'active',
      'displayName',
      'Operations',
      'op',
      'path',
      'value',
      'members',
      'externalId',
    ]
    const body = fc.anything({ key: fc.constantFrom(...names), maxDepth: 4, withNullPrototype: false })
    fc.assert(
      fc.property(body, body, (one, value) => {
        ends(() => parseUser(one))
        ends(() => parseGroup(one))
        for (const path of ['members', 'emails', 'name', undefined]) {
          const operation = { op: 'add', ...(path ? { path } : {}), value }
          ends(() => patchUser(anna, parsePatch({ Operations: [operation] })))
          ends(() =>
            patchGroup({ display_name: 'a', external_id: null }, parsePatch({ Operations: [operation] })),
          )
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
