import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { parsePrefix } from '../../net/prefix.ts'
import { encodeWithdrawal, parseOwner } from './codec.ts'
import { type AddPathStreamRequest, AddPathStreamRequestSchema, GobgpApi } from './generated/gobgp_pb.js'
import { assertWithdrawal, withdrawalOf } from './withdrawal.ts'

const owner = parseOwner('64500:1:1')
const prefixes = [parsePrefix('192.0.2.0/24'), parsePrefix('2001:db8::/32')]

it('withdraws exactly the prefixes that it is given', () => {
  assertWithdrawal(withdrawalOf(prefixes, owner), prefixes, owner)
  assert.deepEqual(withdrawalOf([], owner).paths, [])
})

it('refuses to send a message that differs in anything from what is meant', () => {
  const slips: Record<string, (message: AddPathStreamRequest) => void> = {
    'announces instead': ({ paths }) => (paths[0]!.isWithdraw = false),
    'is of the others’ identifier': ({ paths }) => (paths[0]!.identifier = 0),
    'names no prefix': ({ paths }) => (paths[0]!.nlriBinary = new Uint8Array()),
    'names another prefix': ({ paths }) => (paths[0]!.nlriBinary = Uint8Array.of(16, 192, 0)),
    'names a covering prefix': ({ paths }) => (paths[0]!.nlriBinary = Uint8Array.of(0)),
    'has no family': ({ paths }) => delete paths[0]!.family,
    'has another family': ({ paths }) => (paths[0]!.family!.afi = 2),
    'has another kind of route': ({ paths }) => (paths[0]!.family!.safi = 133),
    'lost a path': ({ paths }) => paths.pop(),
    'has one more': ({ paths }) => paths.push(encodeWithdrawal(parsePrefix('203.0.113.0/24'), owner)),
    'has them in another order': ({ paths }) => paths.push(paths.shift()!),
    'has what we do not know': (message) =>
      (message.$unknown = [{ no: 9, wireType: 0, data: new Uint8Array(1) }]),
  }
  for (const [slip, make] of Object.entries(slips)) {
    const message = copy(withdrawalOf(prefixes, owner))
    make(message)
    assert.throws(() => assertWithdrawal(message, prefixes, owner), `a message that ${slip} passes`)
  }
})

it('has no call that can withdraw everything', () => {
  assert.deepEqual(Object.keys(GobgpApi.method).sort(), ['addPathStream', 'getBgp', 'listPath'])
})

it('is the only file that makes withdrawals, and no file names the call that deletes by selector', () => {
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
  assert.deepEqual(naming(/delete_?path/i), [])
  const driver = 'server/src/drivers/gobgp'
  assert.deepEqual(naming(/encodeWithdrawal/), [`${driver}/codec.ts`, `${driver}/withdrawal.ts`])
  assert.deepEqual(naming(/isWithdraw: true/), [`${driver}/codec.ts`])
})

function copy(message: AddPathStreamRequest): AddPathStreamRequest {
  return fromBinary(
    AddPathStreamRequestSchema,
    toBinary(AddPathStreamRequestSchema, create(AddPathStreamRequestSchema, message)),
  )
}
