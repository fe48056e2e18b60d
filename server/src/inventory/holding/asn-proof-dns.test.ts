import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAsn } from '../../net/asn.ts'
import { parsePrefix } from '../../net/prefix.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { createKeyRing } from '../../runtime/secrets.ts'
import type { AsnProofSources, ProofSubject } from './asn-proof-result.ts'
import { checkDns, dnsPlaces, instructDns } from './asn-proof-dns.ts'
import { asnTokens } from './asn-token.ts'

const asn = parseAsn(64500)
const subject: ProofSubject = {
  asn,
  tokens: asnTokens(createKeyRing(['a secret of the tests that is long enough']), 7, asn),
  heldPrefixes: [],
}
const [token] = subject.tokens
const signal = new AbortController().signal
const prefixesOf = (...texts: string[]) => texts.map(parsePrefix)

/** Names with their texts; an error instead of texts is thrown. */
function sourcesOf(prefixes: string[], records: Record<string, string[] | DriverError>): AsnProofSources {
  return {
    rpki: { judge: () => assert.fail('queried'), originsOf: async () => prefixesOf(...prefixes) },
    txt: {
      resolveTxt: async (name) => {
        const answer = records[name] ?? []
        if (answer instanceof DriverError) throw answer
        return answer
      },
    },
  }
}

const check = (sources: AsnProofSources) => checkDns(sources, subject, signal)
const at = (zone: string) => `_pharos-asn.${zone}`
const one = at('113.0.203.in-addr.arpa')
const six = at('8.b.d.0.1.0.0.2.ip6.arpa')
const down = new DriverError('unreachable', 'no answer')
const broken = new DriverError('refused', 'SERVFAIL')

describe('the token in DNS', () => {
  it('is a proof at the reverse zone of a prefix that the ASN originates', async () => {
    const result = await check(sourcesOf(['203.0.113.0/24', '2001:db8::/32'], { [six]: ['v=spf1', token] }))
    assert.equal(result.state, 'valid')
    assert.deepEqual(result.evidence, { prefix: '2001:db8::/32', names: [six] })
  })

  it('is no proof elsewhere', async () => {
    const result = await check(sourcesOf(['203.0.113.0/24'], { [at('100.51.198.in-addr.arpa')]: [token] }))
    assert.equal(result.state, 'missing')
  })

  it('must be in every zone of a prefix that is delegated as several, since one may belong to a customer', async () => {
    const names = [100, 101, 102, 103].map((octet) => at(`${octet}.51.198.in-addr.arpa`))
    const records = Object.fromEntries(names.map((name) => [name, [token]]))
    assert.equal((await check(sourcesOf(['198.51.100.0/22'], records))).state, 'valid')
    const result = await check(sourcesOf(['198.51.100.0/22'], { ...records, [names[2]!]: [] }))
    assert.equal(result.state, 'missing')
    assert.match(result.note, /not at all zones/)
  })

  it('is reported as another text if there is one at its name', async () => {
    const result = await check(sourcesOf(['203.0.113.0/24'], { [one]: [token.slice(0, -1)] }))
    assert.equal(result.state, 'missing')
    assert.deepEqual(result.evidence, { other_text_at: [one] })
  })

  it('is not reported as missing while a name could not be queried', async () => {
    const prefixes = ['203.0.113.0/24', '2001:db8::/32']
    assert.equal((await check(sourcesOf(prefixes, { [one]: down }))).state, 'unavailable')
    assert.equal((await check(sourcesOf(prefixes, { [one]: broken }))).state, 'error')
    assert.equal((await check(sourcesOf(prefixes, { [one]: down, [six]: broken }))).state, 'unavailable')
    assert.equal((await check(sourcesOf(prefixes, { [one]: down, [six]: [token] }))).state, 'valid')
  })

  it('is unavailable if the prefixes of the ASN are unknown, and missing if there are none', async () => {
    const { txt } = sourcesOf([], {})
    const unknown = { judge: () => assert.fail('queried'), originsOf: async () => undefined }
    assert.equal((await check({ txt, rpki: unknown })).state, 'unavailable')
    assert.equal((await check({ txt })).state, 'unavailable')
    assert.equal((await check(sourcesOf([], {}))).state, 'missing')
  })

  it('rethrows errors that are not an answer of a name server, so that a bug is reported', async () => {
    const sources = sourcesOf(['203.0.113.0/24'], {})
    const bug = { resolveTxt: () => Promise.reject(new TypeError('a bug')) }
    await assert.rejects(check({ ...sources, txt: bug }), TypeError)
  })
})

describe('the places for the token', () => {
  it('are limited, and begin with those of one name', () => {
    const many = Array.from({ length: 300 }, (_, n) => parsePrefix(`10.${n % 250}.${n >> 8}.0/24`))
    const places = dnsPlaces([...prefixesOf('198.51.100.0/22', '198.51.100.0/24'), ...many])
    assert.equal(places.flatMap(({ names }) => names).length, 64)
    assert.ok(places.every(({ names }) => names.length === 1))
  })

  it('exclude prefixes of too many zones, and prefixes without a zone of their own', () => {
    assert.deepEqual(dnsPlaces(prefixesOf('10.0.0.0/9', '203.0.113.0/25', '0.0.0.0/0', '::/0')), [])
    assert.equal(dnsPlaces(prefixesOf('203.0.113.0/24', '203.0.113.0/24')).length, 1)
  })

  it('are listed exactly in the instructions: each line is a record', () => {
    const places = dnsPlaces(prefixesOf('203.0.113.0/24', '198.51.100.0/23'))
    const [warning, ...records] = instructDns(subject, places)
    assert.match(warning!.text, /^This does not verify AS64500/)
    assert.deepEqual(records, [
      { text: 'Create one of these records:', lines: [`${one}. 3600 IN TXT "${token}"`], needs: 'one' },
      {
        text: 'Or create all of these records, for the zones of 198.51.100.0/23:',
        lines: [
          `_pharos-asn.100.51.198.in-addr.arpa. 3600 IN TXT "${token}"`,
          `_pharos-asn.101.51.198.in-addr.arpa. 3600 IN TXT "${token}"`,
        ],
        needs: 'all',
      },
    ])
  })

  it('are described if they are unknown, and if there are none', () => {
    assert.match(
      instructDns(subject, undefined)[1]!.lines[0]!,
      /_pharos-asn\.<zone>\. 3600 IN TXT "pharos-asn-verify=/,
    )
    assert.match(instructDns(subject, [])[1]!.text, /no such prefix yet/)
  })
})
