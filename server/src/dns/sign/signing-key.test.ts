// Keys: files of dnssec-keygen are imported, tags and DS records equal those of BIND, and mismatching parts are
// refused.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { programPath, skipWithout } from '@pharos/lab/program'
import { parseZoneName } from '../../net/dns/name.ts'
import { parseRdata, printRdata } from '../../net/dns/rdata/rdata.ts'
import { recordType } from '../../net/dns/type.ts'
import { assertVerified, rrsetsOf } from '../testing.ts'
import { dsOf, keyTagOf } from './dnskey.ts'
import { keySets } from './key-sets.ts'
import { signZone } from './sign-zone.ts'
import { defaultTimes } from './signature.ts'
import { createSigningKey, importSigningKey, KeyImportError } from './signing-key.ts'

const zone = parseZoneName('example.')
const folder = mkdtempSync(join(tmpdir(), 'pharos-keys-'))
after(() => rmSync(folder, { recursive: true }))

/** Creates a key with BIND and returns its files. */
function keygen(algorithm: string): { dnskey: Uint8Array; privateText: string; tag: number; ds: string } {
  const args = [
    '-q',
    '-K',
    folder,
    '-f',
    'KSK',
    '-a',
    algorithm,
    ...(algorithm === 'RSASHA256' ? ['-b', '2048'] : []),
    'example.',
  ]
  const name = execFileSync(programPath('dnssec-keygen'), args).toString().trim()
  const line = readFileSync(join(folder, `${name}.key`), 'utf8')
    .split('\n')
    .find((text) => text.startsWith('example.'))!
  const ds = execFileSync(programPath('dnssec-dsfromkey'), ['-2', join(folder, name)])
    .toString()
    .trim()
  return {
    dnskey: parseRdata(recordType.DNSKEY, line.replace(/^.*DNSKEY /, '')),
    privateText: readFileSync(join(folder, `${name}.private`), 'utf8'),
    tag: Number(name.slice(-5)),
    ds: ds.replace(/^.* DS /, '').toLowerCase(),
  }
}

describe(
  'an imported key',
  { skip: skipWithout('dnssec-keygen', 'dnssec-dsfromkey', 'dnssec-verify') },
  () => {
    for (const algorithm of ['RSASHA256', 'ECDSAP256SHA256', 'ECDSAP384SHA384', 'ED25519']) {
      it(`signs as one of our own: ${algorithm}`, () => {
        const { dnskey, privateText, tag, ds } = keygen(algorithm)
        const key = importSigningKey('csk', dnskey, privateText)
        assert.deepEqual([key.tag, keyTagOf(dnskey)], [tag, tag])
        assert.equal(printRdata(recordType.DS, dsOf(zone, dnskey, 2)), ds)
        const content = rrsetsOf(zone, '@ 60 SOA ns.other. h 1 2 3 4 5\n@ 60 NS ns.other.')
        const sets = [...content, ...keySets(zone, [dnskey], { request: 'none' }, 60)]
        const signing = {
          zone,
          keys: [key],
          denial: 'nsec',
          now: Date.now() / 1000,
          times: defaultTimes,
        } as const
        assertVerified(zone, signZone(zone, sets, signing))
      })
    }

    it('is refused if the private key is that of another one, or cannot be read', () => {
      const [one, other] = [keygen('ECDSAP256SHA256'), keygen('ECDSAP256SHA256')]
      const reasonOf = (privateText: string): string | undefined => {
        try {
          importSigningKey('csk', one.dnskey, privateText)
          return undefined
        } catch (error) {
          return error instanceof KeyImportError ? error.reason : String(error)
        }
      }
      const pem = createSigningKey(13, 'csk').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
      assert.deepEqual([one.privateText, other.privateText, pem, 'nothing'].map(reasonOf), [
        undefined,
        'private_key',
        'mismatch',
        'private_key',
      ])
    })
  },
)

describe('a new key', () => {
  it('has a tag that no other key of the zone has', () => {
    const first = createSigningKey(15, 'csk')
    const taken = Array.from({ length: 65_536 }, (_, tag) => tag).filter((tag) => tag % 16 !== first.tag % 16)
    assert.equal(createSigningKey(15, 'csk', taken).tag % 16, first.tag % 16)
  })

  it('is not made for algorithm 8', () => {
    assert.throws(() => createSigningKey(8, 'csk'), RangeError)
  })
})
