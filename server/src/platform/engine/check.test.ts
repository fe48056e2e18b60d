import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkText, problemLinesOf, sampleText } from '../samples.ts'
import { PlatformError } from './problem.ts'

test('a valid file has no problems, and its entries are in canonical form', () => {
  assert.deepEqual(problemLinesOf(sampleText), [])
  const { entries } = checkText(sampleText).desired
  const found = Object.fromEntries(entries.map((entry) => [`${entry.kind} ${entry.key}`, entry.fields]))
  assert.deepEqual(found['prefix other 2001:db8::/32'], { team: 'other', prefix: '2001:db8::/32' })
  assert.deepEqual(found['team demo'], {
    slug: 'demo',
    name: 'Demo Networks',
    modules: ['ipam', 'lighthouse'],
    enable_dns: true,
  })
  assert.deepEqual(found['membership other ada@demo.example'], { team: 'other', user: 'ada@demo.example' })
  assert.deepEqual(found['announcement 2001:db8::/32'], {
    team: 'other',
    prefix: '2001:db8::/32',
    origin_asn: 64497,
    irr: '2026-01-31T11:00:00.000Z',
    loa: true,
  })
  assert.equal(entries.length, 15)
})

test('a reference to a TSIG key is the same with and without the final dot', () => {
  for (const [key, reference] of [
    ['transfer.example.net', 'transfer.example.net'],
    ['transfer.example.net.', 'Transfer.example.net'],
    ['transfer.example.net', 'transfer.example.net.'],
  ]) {
    const text = `tsig_keys: [{ name: ${key}, secret: c2VjcmV0 }]
name_servers: [{ name: ns1.example.net, address: 192.0.2.53, tsig_key: ${reference} }]
`
    assert.deepEqual(problemLinesOf(text), [])
  }
})

test('an empty file has no entries', () => {
  for (const text of ['', '# nothing\n', 'teams:\n', '{}', 'teams: []', '---\n...\n']) {
    assert.deepEqual(problemLinesOf(text), [], JSON.stringify(text))
  }
})

/** A file and the starts of its problems, with the line and column to look at. */
const wrongFiles: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'an unknown section',
    'taems: []\n',
    ['1:1: unknown section taems (did you mean teams?); sections are locations, regions'],
  ],
  [
    'a list instead of a map of sections',
    '- teams\n',
    ['1:1: the document must be a map of sections: locations, regions'],
  ],
  [
    'a section that is not a list',
    'teams: {slug: a}\n',
    ['1:8: teams must be a list: each team starts with "- "'],
  ],
  ['an element that is not a map', 'teams:\n  - demo\n', ['2:5: team must be an object, not "demo"']],
  [
    'unknown and missing fields',
    'teams:\n  - slug: demo\n    nmae: x\n    modules: [ipam, bgp]\n',
    [
      '2:5: name is required',
      '3:5: nmae is not a known field (did you mean name?); known fields are slug, name',
      '4:21: modules must be one of inventory, ipam',
    ],
  ],
  [
    'wrong types',
    'locations:\n  - {key: AMS, name: 5, country: nl, timezone: Europe/Amsterdm}\nasns:\n  - {team: x, asn: "64496"}\n',
    [
      '2:11: key must be lower-case letters, digits and hyphens, at most 32, not "AMS"',
      '2:22: name must be a name, 1 to 200 characters, not 5',
      '2:34: country must be a country of two capital letters, such as NL, not "nl"',
      '4:20: asn must be an AS number as a whole number, such as 64496, not "64496"',
    ],
  ],
  [
    'an unknown time zone',
    'locations:\n  - {key: ams, name: A, country: NL, timezone: Europe/Amsterdm}\n',
    ['2:48: unknown time zone Europe/Amsterdm; use an IANA name such as Europe/Amsterdam'],
  ],
  ...(
    [
      ['[boss]', '2:67: staff must be one of reader, billing, noc, admin, not "boss"'],
      ['[]', '2:66: staff must not be empty'],
      ['[noc, noc]', '2:66: staff must not repeat a value: remove noc'],
      [
        'noc',
        '2:66: staff must be true, false or a list of staff roles: reader, billing, noc, admin, not "noc"',
      ],
    ] as const
  ).map(([staff, problem]): [string, string, string[]] => [
    `staff roles that are ${staff}`,
    `users:\n  - {email: a@a.example, password: a sentence for ada x9, staff: ${staff}}\n`,
    [problem],
  ]),
  [
    'an element listed twice',
    'teams:\n  - {slug: a, name: A}\n  - {slug: a, name: B}\n',
    ['3:5: team a is listed twice, first on line 2'],
  ],
  [
    'unknown references',
    'teams:\n  - {slug: demo, name: D}\nprefixes:\n  - {team: dmeo, prefix: 192.0.2.0/24, location: ams}\n',
    ['4:12: unknown team dmeo (did you mean demo?)', '4:50: unknown location ams'],
  ],
  [
    'host bits',
    'teams: [{slug: a, name: A}]\nprefixes:\n  - {team: a, prefix: 192.0.2.7/24}\n',
    ['3:23: 192.0.2.7/24: '],
  ],
  [
    'a default route and an IPv4-mapped prefix',
    'teams: [{slug: a, name: A}]\nprefixes:\n  - {team: a, prefix: "::/0"}\n  - {team: a, prefix: "::ffff:192.0.2.0/120"}\n',
    ['3:23: ::/0 is the default route', '4:23: ::ffff:192.0.2.0/120: '],
  ],
  [
    'an ASN that is verified for two teams',
    'teams: [{slug: a, name: A}, {slug: b, name: B}]\nasns:\n  - {team: a, asn: 64496, verified: true}\n  - {team: b, asn: 64496, verified: true}\n',
    ['4:37: AS64496 is verified for two teams, first on line 3'],
  ],
  [
    'a prefix of two teams',
    'teams: [{slug: a, name: A}, {slug: b, name: B}]\nprefixes:\n  - {team: a, prefix: 192.0.2.0/24}\n  - {team: b, prefix: 192.0.2.0/24}\n',
    ['4:23: prefix 192.0.2.0/24 is listed twice, first on line 3'],
  ],
  [
    'announcements that other networks do not accept, or without validations',
    'teams: [{slug: a, name: A}]\nannouncements:\n  - {team: a, prefix: 192.0.2.0/25, origin_asn: 64496}\n  - {team: a, prefix: 198.51.100.0/24, origin_asn: 64496, enabled: true, regions: [], validated: {irr: true, rpki: soon}}\n',
    [
      '3:23: 192.0.2.0/25 is longer than /24',
      '4:68: enabled needs all validations, and rpki, loa did not pass',
      '4:83: enabled needs a region',
      '4:116: soon is not a time; write it as 2026-01-31T12:00:00Z',
    ],
  ],
  [
    'a closed region',
    'locations: [{key: a, name: A, country: NL, timezone: UTC}]\nregions: [{slug: a, name: A, location: a, open: false, speaker: {kind: sandbox}}]\nteams: [{slug: t, name: T}]\nannouncements:\n  - {team: t, prefix: 192.0.2.0/24, origin_asn: 1, regions: [a]}\n  - {team: t, prefix: 198.51.100.0/24, origin_asn: 1, enabled: true, validated: true}\n',
    ['5:62: region a is not open', '6:64: enabled needs a region, and none is open'],
  ],
  [
    'invalid speakers',
    'locations: [{key: a, name: A, country: NL, timezone: UTC}]\nregions:\n  - {slug: a, name: A, location: a, speaker: {kind: frr}}\n  - {slug: b, name: B, location: a, speaker: {kind: gobgp, addres: x}}\n  - {slug: c, name: C, location: a, speaker: {kind: gobgp, address: "10.0.0.1:50051", owner: "1:2"}}\n',
    [
      '3:53: the kind of a speaker is sandbox or gobgp',
      '4:46: address is required',
      '4:46: owner is required',
      '4:68: addres is not a known field (did you mean address?)',
      '5:69: this port controls the router without authentication',
      '5:94: owner must be a large community',
    ],
  ],
  [
    'reserved communities',
    'locations: [{key: a, name: A, country: NL, timezone: UTC}]\nregions:\n  - {slug: a, name: A, location: a, speaker: {kind: sandbox}, communities: ["65535:65281", "65535:65282", "65535:65283", "65535:65284", "65535:666", "65535:0", "65535:4711", "0:64500", "64500:65281"], large_communities: ["65535:1:1", "0:1:1", "4294967295:1:1", "64500:65535:65281"]}\n',
    [
      '3:77: 65535:65281 is NO_EXPORT: neighbors may',
      '3:92: 65535:65282 is NO_ADVERTISE',
      '3:107: 65535:65283 is NO_EXPORT_SUBCONFED',
      '3:122: 65535:65284 is NOPEER',
      '3:137: 65535:666 is BLACKHOLE',
      '3:150: 65535:0 is GRACEFUL_SHUTDOWN',
      '3:161: 65535:4711 is reserved',
      '3:222: 65535:1:1 is reserved',
      '3:235: 0:1:1 is reserved',
      '3:244: 4294967295:1:1 is reserved',
    ],
  ],
  [
    'two regions on one router',
    'locations: [{key: a, name: A, country: NL, timezone: UTC}]\nregions:\n  - {slug: a, name: A, location: a, speaker: {kind: gobgp, address: "localhost:1", owner: "1:2:3"}}\n  - {slug: b, name: B, location: a, speaker: {kind: gobgp, address: "localhost:1", owner: "1:2:3"}}\n',
    ['4:69: two speakers share a router and an owner, first on line 3'],
  ],
  [
    'users without a password, with two, with a short one and with the published one',
    'users:\n  - {email: a@x.example}\n  - {email: b@x.example, password: a, password_file: b}\n  - {email: c@x.example, password: short}\n  - {email: d@x.example, password: pharos-demo-password}\n  - {email: no, password: aaaaaaaaaaaaaaaa}\n',
    [
      '2:5: user a@x.example is new and needs one of password, password_hash, password_file',
      '3:36: the password has 1 characters',
      '3:39: password and password_file exclude each other; remove one',
      '4:36: the password has 5 characters',
      '5:36: this password is published',
      '6:13: email must be an e-mail address, not "no"',
    ],
  ],
  [
    'sources',
    'sources:\n  - {key: a, kind: fastnetmo, name: A, secret: s}\n  - {key: b, kind: fastnetmon, name: B, secret: s, settings: {timezon: x}}\n  - {key: c, kind: fastnetmon, name: C}\n  - {key: d, kind: generic, name: D, secret: s, settings: {location: x, fields: {network: /ip}}}\n',
    [
      '2:20: unknown kind fastnetmo (did you mean fastnetmon?)',
      '3:72: timezon: is unknown; known are ban, location, timezone, country',
      '4:5: source c is new and needs one of secret, secret_file',
      '5:70: unknown location x',
      '5:81: fields.id: is missing',
    ],
  ],
  ['broken YAML', 'teams:\n  - {slug: a\n  name: x\n', ['3:3: flow map', '3:3: ']],
  ['a repeated field', 'teams:\n  - slug: a\n    slug: b\n', ['3:5: map keys must be unique']],
  [
    'an alias',
    'teams:\n  - &a {slug: a, name: A}\n  - *a\n',
    ['3:5: aliases are not supported; repeat the value'],
  ],
  ['a tag', 'teams: !!set {}\n', ['1:14: tags are not supported; remove tag:']],
  ['a name that is not a string', 'teams:\n  - {1: a}\n', ['2:6: the name of a field must be a string']],
  [
    'text with an invisible character',
    'teams:\n  - slug: demo\n    name: "pay\\u202Epal"\n',
    ['3:11: name contains U+202E (right-to-left override) at character 4; remove it'],
  ],
  ['two documents', 'teams: []\n---\nteams: []\n', ['2:1: ']],
]

for (const [what, text, expected] of wrongFiles) {
  test(`reports with line and column: ${what}`, () => {
    const problems = problemLinesOf(text)
    for (const [at, start] of expected.entries()) {
      assert.ok(problems[at]?.startsWith(start), `${start}\nin\n${problems.join('\n')}`)
    }
    assert.equal(problems.length, expected.length, problems.join('\n'))
  })
}

test('host bits are reported with the prefix that was probably meant', () => {
  const text = 'teams: [{slug: a, name: A}]\nprefixes: [{team: a, prefix: "2001:db8::1/32"}]\n'
  assert.match(problemLinesOf(text)[0]!, /use 2001:db8::\/32$/)
})

test('a mistake in one element is not reported for those that refer to it', () => {
  const text = 'teams:\n  - {slug: demo, nmae: D}\nasns:\n  - {team: demo, asn: 64496}\n'
  assert.deepEqual(
    problemLinesOf(text).filter((problem) => problem.startsWith('4:')),
    [],
  )
})

test('a problem never repeats a password or a secret', () => {
  const text =
    'users:\n  - {email: a@x.example, password: 12345678, password_hash: hunter2}\nsources:\n  - {key: a, kind: x, name: x, secret: [hunter2]}\n'
  const problems = problemLinesOf(text).join('\n')
  assert.match(problems, /password must be/)
  assert.doesNotMatch(problems, /hunter2|12345678/)
})

test('reserved addresses and AS numbers are accepted with a notice', () => {
  const text =
    'teams: [{slug: a, name: A}]\nannouncements: [{team: a, prefix: 10.0.0.0/24, origin_asn: 64512}]\n'
  assert.deepEqual(problemLinesOf(text), [])
  const notices = checkText(text).notices.map(({ message }) => message)
  assert.equal(notices.length, 2)
  assert.match(notices.join(), /private use/)
})

test('a threshold of a prefix is accepted for the team that holds all of it', () => {
  const threshold = (team: string, prefix: string) =>
    problemLinesOf(
      `teams: [{slug: a, name: A}, {slug: b, name: B}]
prefixes: [{team: a, prefix: 192.0.2.0/24}, {team: a, prefix: '2001:DB8::/32'}]
announcements: [{team: b, prefix: 198.51.100.0/24, origin_asn: 64496}]
detector_thresholds: [{team: ${team}, prefix: '${prefix}', pps: 1000}]
`,
    )
  assert.deepEqual(threshold('a', '192.0.2.128/25'), [])
  assert.deepEqual(threshold('b', '198.51.100.0/24'), [])
  assert.deepEqual(threshold('a', '2001:DB8:5::/48'), [])
  const refused = [
    ['b', '192.0.2.0/24'],
    ['a', '192.0.0.0/16'],
    ['a', '198.51.100.7/32'],
  ] as const
  for (const [team, prefix] of refused)
    assert.match(threshold(team, prefix).join(), /^4:.*holds no prefix that covers/, `${team} ${prefix}`)
})

test('the error lists the problems in their order, with the name of the file', () => {
  const error = new PlatformError('platform.yaml', checkText('x: 1\ny: 2\n').problems)
  assert.match(
    error.message,
    /^platform\.yaml:1:1: unknown section x;.*\nplatform\.yaml:2:1: unknown section y/,
  )
})
