import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { parsePrefix } from '../../net/prefix.ts'
import { encodeWithdrawal, parseOwner } from './codec.ts'
import type { Dialect } from './dialect.ts'
import * as v3 from './generated/gobgp_pb.js'
import * as v4 from './generated/gobgp4_pb.js'
import { gobgp3 } from './gobgp3.ts'
import { gobgp4 } from './gobgp4.ts'
import { assertWithdrawal, encodeCheckedWithdrawal } from './withdrawal.ts'

const owner = parseOwner('64500:1:1')
const prefixes = [parsePrefix('192.0.2.0/24'), parsePrefix('2001:db8::/32')]

type Slips = Record<string, (message: v3.AddPathStreamRequest | v4.AddPathStreamRequest) => void>
const slips: Slips = {
  'announces instead': ({ paths }) => (paths[0]!.isWithdraw = false),
  'has the identifier of other programs': ({ paths }) => (paths[0]!.identifier = 0),
  'has no prefix': ({ paths }) => (paths[0]!.nlriBinary = new Uint8Array()),
  'has another prefix': ({ paths }) => (paths[0]!.nlriBinary = Uint8Array.of(16, 192, 0)),
  'has a covering prefix': ({ paths }) => (paths[0]!.nlriBinary = Uint8Array.of(0)),
  'has no family': ({ paths }) => delete paths[0]!.family,
  'has another family': ({ paths }) => (paths[0]!.family!.afi = 2),
  'has another kind of route': ({ paths }) => (paths[0]!.family!.safi = 133),
  'lacks a path': ({ paths }) => paths.pop(),
  'has one more path': ({ paths }) => paths.push(paths[0] as never),
  'has them in another order': ({ paths }) => paths.push(paths.shift() as never),
  'has an unknown field': (message) => (message.$unknown = [{ no: 9, wireType: 0, data: new Uint8Array(1) }]),
  'has a path with an unknown field': ({ paths }) =>
    (paths[0]!.$unknown = [{ no: 29, wireType: 0, data: new Uint8Array(1) }]),
}

withdrawals('3.x', gobgp3, v3.AddPathStreamRequestSchema, {
  'selects a table': (message) => (message.$unknown = [{ no: 1, wireType: 0, data: Uint8Array.of(1) }]),
})
withdrawals('4.x', gobgp4, v4.AddPathStreamRequestSchema, {
  'selects no table': (message) => ((message as v4.AddPathStreamRequest).tableType = 0),
  'selects another table': (message) => ((message as v4.AddPathStreamRequest).tableType = 5 as v4.TableType),
})

function withdrawals(
  version: string,
  dialect: Dialect,
  schema: typeof v3.AddPathStreamRequestSchema | typeof v4.AddPathStreamRequestSchema,
  more: Slips,
): void {
  describe(`a withdrawal for GoBGP ${version}`, () => {
    const assertOctets = (octets: Uint8Array): void =>
      assertWithdrawal(dialect.decodeChange(octets), prefixes, owner, dialect.globalTable)

    it('withdraws exactly the given prefixes', () => {
      const { paths } = dialect.decodeChange(encodeCheckedWithdrawal(prefixes, owner, dialect))
      assert.deepEqual(
        paths.map(({ isWithdraw, family }) => ({ isWithdraw, afi: family?.afi })),
        [
          { isWithdraw: true, afi: 1 },
          { isWithdraw: true, afi: 2 },
        ],
      )
      assert.deepEqual(dialect.decodeChange(encodeCheckedWithdrawal([], owner, dialect)).paths, [])
    })

    for (const [slip, make] of Object.entries({ ...slips, ...more }))
      it(`is not sent if it ${slip}`, () => {
        const octets = encodeCheckedWithdrawal(prefixes, owner, dialect)
        assertOctets(octets)
        const message = fromBinary(schema as never, octets) as Message as v3.AddPathStreamRequest
        make(message)
        const slipped = toBinary(schema as never, message as never)
        assert.notDeepEqual(slipped, octets, 'the mistake changed nothing')
        assert.throws(() => assertOctets(slipped))
      })

    it('is not created if the dialect would decode another prefix', () => {
      const everything = encodeWithdrawal(parsePrefix('0.0.0.0/0'), owner)
      const wrong: Dialect = { ...dialect, encodeChange: () => dialect.encodeChange([everything]) }
      assert.throws(() => encodeCheckedWithdrawal([prefixes[0]!], owner, wrong))
    })
  })
}

it('has no call that can withdraw everything', () => {
  for (const { method } of [v3.GobgpApi, v4.GoBgpService])
    assert.deepEqual(Object.keys(method).sort(), [
      'addPathStream',
      'getBgp',
      'listPath',
      'listPeer',
      'watchEvent',
    ])
})

it('is the only file that creates withdrawals, and no file contains the call that deletes by selector', () => {
  const root = join(import.meta.dirname, '../../../..')
  const sources = ['server/src', 'lab/src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(root, folder, file),
    ),
  )
  const naming = (pattern: RegExp): string[] =>
    sources
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('generated'))
      .filter((file) => pattern.test(readFileSync(file, 'utf8')))
      .map((file) => file.slice(root.length + 1))
      .sort()
  const driver = 'server/src/drivers/gobgp'
  // The server of the tests has the call, so that its use would be detected.
  assert.deepEqual(naming(/delete_?path/i), [`${driver}/testing-gobgp4.ts`])
  // FlowSpec withdrawals contain a rule, and are sent to a separate daemon: see change.ts there.
  assert.deepEqual(naming(/\bencode(?:Flowspec)?Withdrawal\b/), [
    'server/src/drivers/flowspec/change.ts',
    'server/src/drivers/flowspec/codec.ts',
    `${driver}/codec.ts`,
    `${driver}/withdrawal.ts`,
  ])
  assert.deepEqual(naming(/isWithdraw: true/), ['server/src/drivers/flowspec/codec.ts', `${driver}/codec.ts`])
})
