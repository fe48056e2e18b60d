// Answers compared with NSD, BIND and Knot that hold the same zones: every question plain, with DO, with EDNS of 512 octets, and over
// TCP. Differences are allowed only for the reasons listed here.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startPeer, type PeerName, type RunningPeer } from '@pharos/lab/authoritative-peer'
import { skipWithout } from '@pharos/lab/program'
import { decodeMessage, emptyMessage, rcode, type Message } from '../../net/dns/message.ts'
import { encodeMessage } from '../../net/dns/message-writer.ts'
import { parseName, parseZoneName, type DomainName, type ZoneName } from '../../net/dns/name.ts'
import { printRdata } from '../../net/dns/rdata/rdata.ts'
import type { ResourceRecord, SignedRrset } from '../../net/dns/record.ts'
import { recordType, typeName } from '../../net/dns/type.ts'
import { keySets } from '../sign/key-sets.ts'
import { signZone } from '../sign/sign-zone.ts'
import { signingOf } from '../sign/testing.ts'
import { rrsetsOf, zoneFileOf } from '../testing.ts'
import { MemoryZone } from './memory-zone.ts'
import { respond } from './respond.ts'

const label63 = 'a'.repeat(63)
const long = `${label63}.${label63}.${label63}`

/** Every kind of name that RFC 1034, 4035, 4592, 5155 and 6672 distinguish. */
const content = `
@              3600 SOA   ns1 hostmaster 1 3600 900 1209600 300
@              3600 NS    ns1
@              3600 NS    ns2.elsewhere.test.
@              3600 MX    10 mail
@              3600 TXT   "apex"
ns1            3600 A     192.0.2.1
ns1            3600 AAAA  2001:db8::1
mail           300  A     192.0.2.2
www            300  A     192.0.2.3
www            300  A     192.0.2.4
UPPER          300  TXT   "case"
alias          300  CNAME www
chain1         300  CNAME chain2
chain2         300  CNAME chain3
chain3         300  CNAME www
dangling       300  CNAME nothing.here
outside        300  CNAME www.elsewhere.test.
loop1          300  CNAME loop2
loop2          300  CNAME loop1
self           300  CNAME self
to-sub         300  CNAME host.sub
to-wild        300  CNAME x.y.wild
*.wild         60   TXT   "any"
*.wild         60   A     192.0.2.5
exists.wild    60   A     192.0.2.6
deep.ent.wild  60   A     192.0.2.7
*.cwild        60   CNAME www
*.ewild.more   60   A     192.0.2.8
a.b.c.ent      60   A     192.0.2.9
sub            3600 NS    ns1.sub
sub            3600 NS    ns.sub2
ns1.sub        3600 A     192.0.2.10
ns1.sub        3600 AAAA  2001:db8::10
host.sub       3600 A     192.0.2.11
sub2           3600 NS    ns.sub2
ns.sub2        3600 A     192.0.2.12
secure         3600 NS    ns1
secure         3600 DS    1234 13 2 ${'ab'.repeat(32)}
dname          300  DNAME target
dname          300  TXT   "at the owner"
www.target     300  A     192.0.2.13
far            300  DNAME target.elsewhere.test.
stretch        300  DNAME ${long}
_sip._tcp      300  SRV   0 5 5060 www
https          300  HTTPS 1 . alpn=h2
big            300  TXT   ${`"${'x'.repeat(250)}" `.repeat(8)}
${Array.from({ length: 40 }, (_, i) => `many 300 A 198.51.100.${i}`).join('\n')}
esc\\.aped      300  A     192.0.2.14
\\000.octet     300  A     192.0.2.15
num            300  TYPE65400 \\# 2 0102
_ns.ent2       300  TXT   "x"
`

const childContent = `
@   60 SOA ns1 hostmaster 1 3600 900 1209600 60
@   60 NS  ns1
ns1 60 A   192.0.2.20
`

type Served = { readonly zone: ZoneName; readonly sets: readonly SignedRrset[] }

function serve(name: string, text: string, denial: 'nsec' | 'nsec3' | undefined): Served {
  const zone = parseZoneName(name)
  const signing = denial && signingOf(zone, denial)
  const dnskeys = signing?.keys.map(({ dnskey }) => dnskey) ?? []
  const sets = [...rrsetsOf(zone, text), ...keySets(zone, dnskeys, { request: 'none' }, 3600)]
  return { zone, sets: [...signZone(zone, sets, signing)] }
}

const served: readonly Served[] = [
  serve('nsec.test.', content, 'nsec'),
  serve('nsec3.test.', content, 'nsec3'),
  serve('plain.test.', content, undefined),
  // A child beside its parent: DS belongs to the parent.
  serve('secure.nsec.test.', childContent, 'nsec'),
  serve('secure.nsec3.test.', childContent, undefined),
]
const responder = { zones: new Map(served.map(({ zone, sets }) => [zone, new MemoryZone(zone, sets)])) }

const names = [
  '@ ns1 mail www upper alias chain1 dangling outside loop1 self to-sub to-wild wild x.wild x.y.wild *.wild exists.wild',
  'x.exists.wild ent.wild x.ent.wild deep.ent.wild x.cwild cwild more ewild.more x.ewild.more x.y.more ent c.ent b.c.ent a.b.c.ent x.a.b.c.ent x.ent',
  'sub ns1.sub host.sub x.y.sub sub2 ns.sub2 secure x.secure ns1.secure dname www.dname x.dname x.y.dname far x.far',
  `${'b'.repeat(60)}.stretch _sip._tcp _tcp https big many esc\\.aped \\000.octet octet num missing a.missing zzz 0 _ns.ent2 ent2`,
].flatMap((line) => line.split(' '))

const types = [
  recordType.A,
  recordType.TXT,
  recordType.NS,
  recordType.CNAME,
  recordType.DS,
  recordType.SOA,
  recordType.DNAME,
  65_400,
]
const apexTypes = [
  recordType.AAAA,
  recordType.MX,
  recordType.DNSKEY,
  recordType.NSEC,
  recordType.NSEC3PARAM,
  recordType.SRV,
  recordType.HTTPS,
]

type Asked = { readonly name: DomainName; readonly type: number }

const questions: readonly Asked[] = [
  ...served
    .slice(0, 3)
    .flatMap(({ zone }) =>
      names.flatMap((name) => types.map((type) => ({ name: parseName(name, zone), type }))),
    ),
  ...served.flatMap(({ zone }) => [...types, ...apexTypes].map((type) => ({ name: zone, type }))),
  { name: parseName('elsewhere.example.'), type: recordType.A },
  { name: parseName('.'), type: recordType.NS },
  { name: parseName('test.'), type: recordType.DS },
]

const modes = {
  plain: { transport: 'udp', edns: undefined },
  DO: { transport: 'udp', edns: { udpSize: 1232, do: true } },
  'EDNS 512': { transport: 'udp', edns: { udpSize: 512, do: true } },
  TCP: { transport: 'tcp', edns: { udpSize: 1232, do: true } },
} as const
type Mode = keyof typeof modes

function encodeQuery({ name, type }: Asked, mode: Mode, id: number): Uint8Array {
  const { edns } = modes[mode]
  return encodeMessage({
    ...emptyMessage,
    id,
    questions: [{ name, type, class: 1 }],
    ...(edns && { edns: { ...edns, version: 0, options: [] } }),
  })
}

type Summary = {
  readonly rcode: number
  readonly aa: boolean
  readonly tc: boolean
  readonly answers: readonly string[]
  readonly authorities: readonly string[]
  readonly glue: readonly string[]
}

const textOf = ({ name, type, ttl, rdata }: ResourceRecord): string =>
  `${name} ${ttl} ${typeName(type)} ${printRdata(type, rdata)}`

/**
 * The compared parts. Servers may choose NS records beside a positive answer and additional records other than glue
 * (RFC 1034 section 4.3.2), so these are excluded, and so are the sections of a truncated answer.
 */
function summaryOf(message: Message): Summary {
  const asked = message.questions[0]!.type
  const isReferral = !message.answers.some(({ type }) => type === asked)
  const authorities = message.authorities.filter(
    ({ type, rdata }) => isReferral || !isOfType(recordType.NS, type, rdata),
  )
  const cuts = message.aa ? [] : message.authorities.filter(({ type }) => type === recordType.NS)
  const targets = new Set(cuts.map(({ rdata }) => printRdata(recordType.NS, rdata)))
  const glue = message.additionals.filter(
    ({ name, type }) =>
      targets.has(name) && type !== recordType.RRSIG && cuts.some((cut) => name.endsWith(cut.name)),
  )
  const listOf = (records: readonly ResourceRecord[]): string[] =>
    message.tc ? [] : [...new Set(records.map(textOf))].sort()
  const { rcode, aa, tc } = message
  return {
    rcode,
    aa,
    tc,
    answers: listOf(message.answers),
    authorities: listOf(authorities),
    glue: listOf(glue),
  }
}

const isOfType = (wanted: number, type: number, rdata: Uint8Array): boolean =>
  type === wanted || (type === recordType.RRSIG && ((rdata[0]! << 8) | rdata[1]!) === wanted)

type Difference = { readonly question: Asked; readonly ours: Summary; readonly theirs: Summary }

/** The reasons for which an answer may differ from that of a peer. */
const reasons: readonly {
  readonly reason: string
  readonly peer?: PeerName
  applies(difference: Difference): boolean
}[] = [
  {
    reason: 'ours fits into 512 octets, because all names are compressed',
    applies: ({ ours, theirs }) =>
      theirs.tc && !ours.tc && ours.rcode === theirs.rcode && ours.aa === theirs.aa,
  },
  {
    reason: 'BIND returns SERVFAIL for a loop of CNAME records, with the records',
    peer: 'named',
    applies: ({ ours, theirs }) =>
      theirs.rcode === rcode.SERVFAIL &&
      isSame({ ...ours, authorities: [], glue: [] }, { ...theirs, rcode: ours.rcode }),
  },
  {
    reason:
      'Knot returns NXDOMAIN where the name made from a DNAME is too long (RFC 6672 section 2.2: YXDOMAIN)',
    peer: 'knotd',
    applies: ({ ours, theirs }) => ours.rcode === rcode.YXDOMAIN && theirs.rcode === rcode.NXDOMAIN,
  },
  {
    reason: 'NSD leaves out the proof that the target of a DNAME does not exist',
    peer: 'nsd',
    applies: ({ ours, theirs }) =>
      theirs.answers.some((line) => / DNAME /.test(line)) &&
      (ours.tc || isSame({ ...ours, authorities: [] }, { ...theirs, authorities: [] })),
  },
  {
    reason: 'NSD proves the closest encloser too if a wildcard itself is asked for',
    peer: 'nsd',
    applies: ({ question, ours, theirs }) =>
      question.name.startsWith('*.') &&
      ours.authorities.every((line) => theirs.authorities.includes(line)) &&
      isSame({ ...ours, authorities: [] }, { ...theirs, authorities: [] }),
  },
]

const isSame = (a: Summary, b: Summary): boolean => JSON.stringify(a) === JSON.stringify(b)

for (const peer of ['nsd', 'named', 'knotd'] satisfies PeerName[]) {
  describe(`answers beside ${peer}`, { skip: skipWithout(peer) }, () => {
    let running: RunningPeer
    before(async () => {
      running = await startPeer(
        peer,
        Object.fromEntries(served.map(({ zone, sets }) => [zone, zoneFileOf(sets)])),
      )
    })
    after(() => running?.stop())

    for (const mode of Object.keys(modes) as Mode[]) {
      it(`are the same for ${questions.length} questions: ${mode}`, async () => {
        const { transport } = modes[mode]
        const different: Difference[] = []
        let id = 0
        for (const question of questions) {
          const query = encodeQuery(question, mode, (id += 1))
          const theirs = summaryOf(decodeMessage(await running.query(query, transport)))
          const ours = summaryOf(decodeMessage(respond(responder, query, transport)!))
          if (isSame(ours, theirs)) continue
          const difference = { question, ours, theirs }
          const isAllowed = reasons.some(
            (reason) => (reason.peer === undefined || reason.peer === peer) && reason.applies(difference),
          )
          if (!isAllowed) different.push(difference)
        }
        assert.deepEqual(different, [])
      })
    }
  })
}
