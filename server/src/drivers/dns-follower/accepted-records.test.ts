// Every accepted record, alone and beside others of its name, also at wildcards, is transferred by real name servers
// and loaded again after a restart. A server that refused one would serve the former zone forever.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startFollower, type FollowerName } from '@pharos/lab/dns-follower'
import { skipWithout, type ProgramName } from '@pharos/lab/program'
import { waitFor } from '@pharos/lab/wait'
import { insertTestZone } from '../../dns/publish/testing.ts'
import { checkZone, collectSets } from '../../dns/zone-file/check-zone.ts'
import { parseName, parseZoneName } from '../../net/dns/name.ts'
import { RdataError, adviseRdata, parseRdata, validateRdata } from '../../net/dns/rdata/rdata.ts'
import { validData } from '../../net/dns/rdata/testing-corpus.ts'
import { findType, isZoneType, recordType, typeName } from '../../net/dns/type.ts'
import { scaled } from '../../runtime/testing-scale.ts'
import { createRandom, testSeed, type Random } from '../../../test/support/random.ts'
import { startTestPrimary, type TestPrimary } from '../dns-server/testing.ts'
import { createFollower } from './name-server.ts'

type Sample = { readonly type: number; readonly rdata: Uint8Array }
/** The records of one name. */
type Node = { readonly isWildcard: boolean; readonly samples: readonly Sample[] }

const recordsCount = scaled(5_000)
const nodesOfZone = 15
/** All servers transfer in parallel; a server that refuses a zone retries forever. */
const limitMs = 60_000

/** Types that only Pharos writes. */
const written = new Set<number>([
  recordType.SOA,
  recordType.RRSIG,
  recordType.NSEC,
  recordType.NSEC3,
  recordType.NSEC3PARAM,
  recordType.ZONEMD,
])
const types = [...new Set([...Object.values(recordType), 54, 269, 1_000, 32_770, 65_280, 65_534])].filter(
  (type) => isZoneType(type) && !written.has(type),
)
const structuralTypes = new Set<number>([
  recordType.NS,
  recordType.DS,
  recordType.CNAME,
  recordType.DNAME,
  recordType.A,
  recordType.MX,
])
const origin = parseName('example')
const samples: Sample[] = validData.flatMap((line) => {
  const [mnemonic = '', ...data] = line.replace(/ => .*/, '').split(' ')
  const type = findType(mnemonic)!
  return written.has(type) ? [] : [{ type, rdata: parseRdata(type, data.join(' '), { origin }) }]
})

/** Types with rules about other records of the name. */
const structural = samples.filter(({ type }) => structuralTypes.has(type))

function mutatedOctets({ type, rdata }: Sample, random: Random): Sample {
  let octets = [...rdata]
  for (let edits = random.below(3); edits > 0; edits--) {
    const at = random.below(octets.length + 1)
    const inserted = random.pick([[], [random.below(256)], [0], [random.below(16)]])
    octets = [...octets.slice(0, at), ...inserted, ...octets.slice(at + random.below(3))]
  }
  return { type, rdata: Uint8Array.from(octets) }
}

function randomOctets(random: Random): Sample {
  const lengths = [0, 1, 2, 3, 4, 5, 8, 16, 33]
  const below = random.pick([2, 16, 256])
  const rdata = Uint8Array.from({ length: random.pick(lengths) }, () => random.below(below))
  return { type: random.pick(types), rdata }
}

const expressionParts =
  String.raw`^ $ . * + ? ( ) (a) (b|c) [a-z] [^0-9] [[:digit:]] [a] ] [ {2} {1,3} {2,1} {,3} { } \. \1 \\ | - a b 0 9 @`.split(
    ' ',
  )
const replacementParts = String.raw`sip: \1 \2 \0 \\ @ a /`.split(' ')

/** Expressions of NAPTR, more of them well-formed than not. */
function randomRule(random: Random): Sample {
  const some = (parts: readonly string[]): string =>
    Array.from({ length: 1 + random.below(5) }, () => random.pick(parts)).join('')
  const separator = random.pick(['!', '!', '!', '/', '|', '#', 'i', '1'])
  const flags = random.pick(['', '', 'i', 'ii', 'g'])
  const rule = [separator, some(expressionParts), separator, some(replacementParts), separator, flags].join(
    '',
  )
  const text = Buffer.from(rule, 'latin1')
  const head = [0, 1, 0, 1, 1, 117, 7, ...Buffer.from('E2U+sip')]
  return { type: recordType.NAPTR, rdata: Uint8Array.from([...head, text.length, ...text, 0]) }
}

/** The parameters of SVCB, as octets. */
function randomParameters(random: Random): Sample {
  const path = random.pick(['/q{?dns}', '/q{?dns,a}', '/{dns}', 'q{?dns}', '/novariable', '/\u00e9{?dns}'])
  const parameters: readonly [number, string][] = [
    [1, random.pick(['\u0002h2', '\u0002h2\u0003a\\b', '\u0003a,b', '\u0001'])],
    [3, random.pick(['\0\u0035', '\0'])],
    [7, path],
    [8 + random.below(4), random.pick(['', 'x', '\0\u001d'])],
  ]
  const given = parameters.filter(() => random.chance(0.5))
  const octets = given.flatMap(([key, value]) => {
    const text = Buffer.from(value, random.chance(0.9) ? 'utf8' : 'latin1')
    return [key >> 8, key & 255, 0, text.length, ...text]
  })
  const type = random.pick([recordType.SVCB, recordType.HTTPS])
  return { type, rdata: Uint8Array.from([0, random.below(2), 1, 120, 0, ...octets]) }
}

function isAccepted({ type, rdata }: Sample): boolean {
  try {
    validateRdata(type, rdata)
    return adviseRdata(type, rdata) === undefined
  } catch (error) {
    if (error instanceof RdataError) return false
    throw error
  }
}

function acceptedRecords(random: Random, count: number): Sample[] {
  const accepted: Sample[] = []
  while (accepted.length < count) {
    const made = random.pick([
      () => mutatedOctets(random.pick(samples), random),
      () => randomOctets(random),
      () => randomRule(random),
      () => randomParameters(random),
      () => random.pick(structural),
    ])()
    if (isAccepted(made)) accepted.push(made)
  }
  return accepted
}

/** Puts one to three records at each name. Records that a zone refuses beside each other get separate names. */
function nodesOf(records: readonly Sample[], random: Random): Node[] {
  const nodes: Node[] = []
  for (let at = 0; at < records.length;) {
    const node = { isWildcard: random.chance(0.5), samples: records.slice(at, (at += 1 + random.below(3))) }
    if (isAcceptedNode(node)) nodes.push(node)
    else nodes.push(...node.samples.map((sample) => ({ isWildcard: false, samples: [sample] })))
  }
  return nodes
}

function isAcceptedNode({ isWildcard, samples }: Node): boolean {
  const name = parseName(isWildcard ? '*.n.example' : 'n.example')
  const { sets } = collectSets(samples.map((sample) => ({ ...sample, name, ttl: 300 })))
  return !checkZone(parseZoneName('example'), sets).some(({ isError }) => isError)
}

const lineOf = ({ type, rdata }: Sample): string =>
  `TYPE${type} \\# ${rdata.length} ${Buffer.from(rdata).toString('hex')}`
const shownNode = ({ isWildcard, samples }: Node): string =>
  `${isWildcard ? 'wildcard ' : ''}${samples.map((sample) => `${typeName(sample.type)}: ${lineOf(sample)}`).join('; ')}`

/** Publishes a zone for each group, and returns their names. */
async function publishGroups(
  primary: TestPrimary,
  label: string,
  groups: readonly (readonly Node[])[],
): Promise<string[]> {
  const names: string[] = []
  for (const [at, group] of groups.entries()) {
    const name = `${label}${at}.accepted.`
    const lines = group.flatMap(({ isWildcard, samples }, at) =>
      samples.map((sample) => `${isWildcard ? '*.' : ''}n${at} 300 ${lineOf(sample)}`),
    )
    await primary.publish(await insertTestZone(primary.deps.db, name, lines.join('\n')))
    names.push(name)
  }
  return names
}

/** Returns the zones that the server does not serve after its transfer, or after a restart without the primary. */
async function refusedZones(
  name: FollowerName,
  primary: TestPrimary,
  zones: readonly string[],
): Promise<string[]> {
  const names = zones.map(parseZoneName)
  await using peer = await startFollower(name, { primary, key: primary.key, zones })
  const server = createFollower({ address: peer.address, port: peer.port, key: primary.key })
  let refused: string[] = []
  const served = (what: string): Promise<boolean> =>
    waitFor(
      what,
      async () => {
        const serials = await server.serials(names).catch(() => undefined)
        refused = names.filter((zone) => typeof serials?.get(zone) !== 'number')
        return refused.length === 0
      },
      { timeoutMs: limitMs, everyMs: 200 },
    ).catch(() => false)
  try {
    if (!(await served(`${name} transfers the zones`))) return refused
    await primary.stop()
    await peer.stop()
    await peer.start()
    await served(`${name} loads the zones`)
    await primary.start()
    return refused
  } finally {
    await server.close()
  }
}

const peers: readonly { readonly name: FollowerName; readonly program: ProgramName }[] = [
  { name: 'BIND', program: 'named' },
  { name: 'Knot', program: 'knotd' },
  { name: 'NSD', program: 'nsd' },
]

describe(
  'record data that is accepted',
  { skip: skipWithout(...peers.map(({ program }) => program)) },
  () => {
    it(`is transferred and loaded by BIND, Knot and NSD, in ${recordsCount} records`, async () => {
      const random = createRandom(testSeed)
      const nodes = nodesOf([...samples, ...acceptedRecords(random, recordsCount)], random)
      const groups = Array.from({ length: Math.ceil(nodes.length / nodesOfZone) }, (_, at) =>
        nodes.slice(at * nodesOfZone, (at + 1) * nodesOfZone),
      )
      await using primary = await startTestPrimary()
      const zones = await publishGroups(primary, 'z', groups)
      for (const { name } of peers) {
        const refused = await refusedZones(name, primary, zones)
        if (refused.length === 0) continue
        // A separate zone per name of such a zone identifies the refused one.
        const singles = refused.flatMap((zone) => groups[zones.indexOf(zone)]!)
        const ofSingles = await publishGroups(
          primary,
          `${name.toLowerCase()}-`,
          singles.map((one) => [one]),
        )
        const found = await refusedZones(name, primary, ofSingles)
        assert.deepEqual(
          found.map((zone) => shownNode(singles[ofSingles.indexOf(zone)]!)),
          [],
          `${name} refuses ${refused.length} zones (PHAROS_TEST_SEED=${testSeed})`,
        )
        assert.deepEqual(refused, [], `${name} refuses zones, but none of their names alone`)
      }
    })
  },
)
