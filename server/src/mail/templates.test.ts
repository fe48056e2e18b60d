// templates.golden.txt contains every mail: PHAROS_TEST_UPDATE=1 rewrites it; review the diff.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { codePoint } from '../runtime/testing-code-point.ts'
import { defangLine, defangLines } from './defang.ts'
import type { MailContents, MailTemplate } from './mail.ts'
import { escapeHtml } from './render.ts'
import { fillTemplate, isTemplate, lifetimeSeconds } from './templates.ts'
import { scaled } from '../runtime/testing-scale.ts'

const sender = { provider: 'Example Net', contact: 'help@net.example' }
const link = 'https://net.example/do#phm_x.1.abc'
const [at, address] = ['2026-01-31T12:34:56.789Z', '2001:db8::1']

const withdrawal = {
  change: 'withdraw',
  router: null,
  team: null,
  requestedBy: null,
  requestedAt: null,
} as const
const requested = { requestedBy: 'anna@blue.example', requestedAt: at }

const contents: { readonly [T in MailTemplate]: readonly MailContents[T][] } = {
  'confirm-email': [{ link, hours: 24 }],
  'email-changing': [{ to: 'new@elsewhere.example', at, address }],
  'password-reset': [{ link, minutes: 60 }],
  'password-changed': [{ at, address: '192.0.2.7' }],
  invitation: [
    {
      link,
      days: 7,
      team: 'Blue & Co.',
      invitedBy: 'Anna <b>',
      message: 'Hi!\n\nSee https://blue.example/x',
    },
    { link, days: 1, team: 'Blue', invitedBy: 'Anna', roles: ['network', 'billing'], message: '' },
  ],
  'second-factor-changed': [
    { change: 'on', at, address },
    { change: 'off', at, address },
    { change: 'recovery codes', at, address },
    { change: 'authenticator removed', at, address },
    { change: 'passkey added', at, address },
    { change: 'passkey removed', at, address },
  ],
  'identity-linked': [{ team: 'Blue', provider: 'Blue login', at, address }],
  'team-sign-in': [
    { change: 'recovery code used', team: 'Blue', by: 'anna@blue.example', at, address },
    { change: 'break glass used', by: 'anna@net.example', at, address },
    { change: 'last admin removed', team: 'Blue', at },
    { change: 'opened by the operator', team: 'Blue', at },
    {
      change: 'certificates changed',
      team: 'Blue',
      provider: 'Blue login',
      fingerprints: ['ab'.repeat(32), 'cd'.repeat(32)],
      at,
      address,
    },
    { change: 'provider unreachable', team: 'Blue', provider: 'Blue login' },
  ],
  'link-account': [{ link, hours: 24, team: 'Blue', provider: 'Blue login' }],
  'account-deleted': [
    { at, address },
    { at, address: null },
  ],
  'account-unused': [{ days: 30 }],
  'session-ended': [{ at, address }],
  'domain-lost': [{ team: 'Blue', domain: 'blue.example', reason: 'the TXT record is not there' }],
  'webhook-disabled': [
    { team: 'Blue', url: 'https://hooks.blue.example/in', since: at, error: '503 after 2 s' },
  ],
  'approval-open': [
    {
      isReminder: false,
      approvals: [
        {
          id: 17,
          area: 'routes',
          subject: 'ams',
          team: null,
          detail: 'More withdrawals than allowed: at most 3 prefixes.',
          at,
          itemCount: 22,
          teams: [
            { team: 'Blue', count: 20 },
            { team: null, count: 1 },
          ],
          items: [
            { ...withdrawal, value: '203.0.113.0/24', team: 'Blue', ...requested },
            { ...withdrawal, value: '2001:db8:fd::/48' },
            {
              ...withdrawal,
              change: 'replace',
              value: '198.51.100.0/24',
              router: 'r1',
            },
          ],
        },
      ],
      link,
    },
    {
      isReminder: true,
      approvals: [
        {
          id: 3,
          area: 'shield',
          subject: '203.0.113.0/24',
          team: 'Blue & Co.',
          detail: 'The list of 203.0.113.0/24 has a rule that drops everything.',
          at,
          itemCount: 1,
          teams: [],
          items: [{ ...withdrawal, change: 'apply', value: '203.0.113.0/24', router: 'edge' }],
        },
        {
          id: 4,
          area: 'dns',
          subject: 'www.blue.example',
          team: null,
          detail: 'No version of the zone itemises these removals.',
          at,
          itemCount: 21,
          teams: [],
          items: [{ ...withdrawal, change: 'remove', value: 'www.blue.example. A' }],
        },
        {
          id: 5,
          area: 'platform',
          subject: 'NetBox',
          team: null,
          detail: 'The import from NetBox would delete 12 devices.',
          at,
          itemCount: 1,
          teams: [],
          items: [{ ...withdrawal, change: 'remove', value: 'device sw1.ams.example' }],
        },
      ],
      link,
    },
  ],
  'zones-refused': [
    {
      zones: [
        {
          name: 'shop.example.',
          servers: ['ns2.example.net.'],
          serial: 2026013101,
          sets: ['www.shop.example. NAPTR'],
        },
        { name: 'new.example.', servers: ['ns1.example.net.', 'ns2.example.net.'], serial: null, sets: [] },
      ],
    },
  ],
  notifications: [
    {
      team: 'Blue & Co.',
      subject: 'Attack on 203.0.113.0/24: UDP amplification (DNS), peak 12 Gbps, 812 kpps',
      lines: [
        '2026-01-31 12:34 UTC  Attack on 203.0.113.0/24: UDP amplification (DNS), peak 12 Gbps, 812 kpps',
      ],
      count: 1,
      link,
      settings: link,
      unsubscribe: link,
    },
    {
      team: null,
      subject: '51 letters to review since 12:34 UTC',
      lines: ['2026-01-31 12:34 UTC  The team "Blue" uploaded the letter of authorization "a[.]pdf"'],
      count: 51,
      link,
      settings: link,
      unsubscribe: link,
    },
  ],
  'restore-open': [
    {
      id: 1,
      at,
      detail: 'A process remembers entries of the audit log that the database does not have.',
      link,
    },
  ],
  'monthly-report': [
    {
      team: 'Blue & Co.',
      teamId: 3,
      month: '2026-01',
      monthText: 'January 2026',
      rows: [
        ['Received, 95th percentile', '49 Gbps'],
        ['Attacks', '34 (21 in the month before)'],
      ],
      link,
      settings: link,
      unsubscribe: link,
    },
  ],
  test: [{ at }],
}

const filled = Object.entries(contents).flatMap(([template, examples]) =>
  examples.map((content) => ({
    template,
    mail: fillTemplate(template as 'test', content as { at: string }, sender),
  })),
)

test('there are twenty templates at most', () => assert.ok(Object.keys(contents).length <= 20))

test('every mail matches the reviewed golden file', () => {
  const golden = new URL('templates.golden.txt', import.meta.url)
  const text = filled
    .map(({ template, mail }) => `===== ${template}\nSubject: ${mail.subject}\n\n${mail.text}\n${mail.html}`)
    .join('\n')
  if (process.env['PHAROS_TEST_UPDATE']) writeFileSync(golden, text)
  assert.equal(text, readFileSync(golden, 'utf8'))
})

test('every mail names the provider and a contact', () => {
  for (const { template, mail } of filled) {
    for (const text of [mail.text, mail.html]) {
      assert.match(text, /Example Net/, template)
      assert.match(text, /help@net\.example/, template)
    }
  }
})

test('a mail about account security explains what to do if it was not you', () => {
  for (const template of [
    'email-changing',
    'password-changed',
    'second-factor-changed',
    'password-reset',
    'confirm-email',
  ])
    for (const { mail } of filled.filter((one) => one.template === template))
      assert.match(mail.text, /If it was not you/, template)
})

test('the HTML loads nothing, and has no style sheet, no script and no text colours', () => {
  for (const { mail } of filled) {
    assert.doesNotMatch(
      mail.html,
      /<(img|link|style|script|iframe|object|svg|base|form)|src=|url\(|@import|background/i,
    )
    assert.doesNotMatch(mail.html, /[";]color:/)
    assert.match(mail.html, /name="color-scheme" content="light dark"/)
  }
})

test('the text fits into a terminal, apart from its link', () => {
  for (const { mail } of filled)
    for (const line of mail.text.split('\n'))
      assert.ok(line.length <= 76 || line.startsWith('https://'), line)
})

test('a link is complete, and is a web address', () => {
  const content = { minutes: 60, link: '' }
  for (const bad of ['javascript:alert(1)', 'https://net.example/a b', '', '/reset', 'https://é.example/'])
    assert.throws(() => fillTemplate('password-reset', { ...content, link: bad }, sender), /is none/, bad)
  const { html } = fillTemplate(
    'password-reset',
    { minutes: 60, link: 'https://net.example/?a=1&b="2"' },
    sender,
  )
  assert.ok(html.includes('href="https://net.example/?a=1&amp;b=&quot;2&quot;"'))
})

test('a mail with a link is sent only while the stated lifetime lasts', () => {
  const lasts = filled.map(({ template, mail }, at) => {
    const content = Object.values(contents).flat()[at] as { at: string }
    const seconds = lifetimeSeconds(template as 'test', content)
    assert.equal(Number.isFinite(seconds), /The link (works once and )?expires in/.test(mail.text), template)
    return seconds
  })
  assert.deepEqual(lasts.filter(Number.isFinite), [86_400, 3_600, 604_800, 86_400, 86_400])
})

test('isTemplate accepts template names only', () => {
  assert.ok(isTemplate('invitation'))
  for (const name of ['', 'toString', '__proto__', 'other']) assert.ok(!isTemplate(name), name)
})

test('text of other users is readable and contains no links', () => {
  const expected: Record<string, string> = {
    'https://evil.example/login?a=b': 'https[:]//evil[.]example/login?a=b',
    'www.evil.example': 'www[.]evil[.]example',
    'evil。example and evil．example': 'evil[.]example and evil[.]example',
    'ｈｔｔｐｓ：／／ｅｖｉｌ．example': 'https[:]//evil[.]example',
    'mail me@evil.example': 'mail me[@]evil[.]example',
    'mailto:me': 'mailto[:]me',
    'tel:+1-800': 'tel[:]+1-800',
    'javascript:alert(1)': 'javascript[:]alert(1)',
    '\\\\evil\\share': '\\ \\evil\\share',
    'ev\u200bil.exa\u00admple': 'evil[.]example',
    'a\u202egnp.live': 'agnp[.]live',
    'Acme Ltd. and Co., at 10:30 (e. g.): yes...': 'Acme Ltd. and Co., at 10:30 (e. g.): yes...',
    'Zürich  日本\t🚀': 'Zürich 日本 🚀',
    '': '',
  }
  for (const [text, defanged] of Object.entries(expected)) assert.equal(defangLine(text), defanged, text)
  assert.deepEqual(defangLines('\n\n a \r\n\n b\u2028c\n\n'), ['a', '', 'b', 'c'])
  assert.equal(defangLines('x\n'.repeat(100)).length, 13)
  assert.ok(defangLine('x'.repeat(10_000)).length <= 201)
})

/** Texts that known mail programs turn into links, or worse. */
const follows = [
  /[\p{L}\p{N}][.。．｡][\p{L}\p{N}]/u,
  /[a-z][a-z0-9+.-]*:\/\//i,
  /(mailto|tel|sms|javascript|data|file|callto|facetime):[\p{L}\p{N}/+%]/iu,
  /[\p{L}\p{N}]@[\p{L}\p{N}]/u,
  /\\\\/,
]

/** Characters of every category, and the parts of links. */
const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'http',
        'https://',
        '://',
        ':',
        '.',
        '。',
        '．',
        '@',
        '\\\\',
        'evil',
        'example',
        'com',
        'javascript:',
        'mailto:',
        '<a href="https://evil.example">',
        '</p>',
        '<img src=x onerror=alert(1)>',
        '&lt;b&gt;',
        '"',
        "'",
        '\n',
        '\r\n',
        '\u202e',
        '\u200b',
        '\u00ad',
        '--',
        '> ',
      ),
      fc.string({ unit: codePoint, maxLength: 8 }),
      fc.string({ unit: 'grapheme', maxLength: 8 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

test('no text of other users becomes a link', () => {
  fc.assert(
    fc.property(nasty, (text) => {
      for (const line of [defangLine(text), ...defangLines(text)]) {
        for (const pattern of follows) assert.doesNotMatch(line, pattern)
        assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      }
    }),
    { numRuns: scaled(3_000) },
  )
})

const ours = {
  'confirm-email': ['link'],
  'password-reset': ['link'],
  invitation: ['link'],
  'link-account': ['link'],
  'second-factor-changed': ['change'],
  'team-sign-in': ['change', 'fingerprints'],
  'approval-open': ['area', 'change', 'detail', 'link'],
  'restore-open': ['detail', 'link'],
  'zones-refused': [],
  // Its texts are defanged in digest.ts.
  notifications: ['subject', 'lines', 'link', 'settings', 'unsubscribe'],
  // Its figures are formatted numbers and prefixes.
  'monthly-report': ['month', 'monthText', 'rows', 'link', 'settings', 'unsubscribe'],
}

/** The example with every external text replaced. */
function hostile(template: MailTemplate, content: object, text: string): object {
  const own: readonly string[] = (ours as Record<string, readonly string[]>)[template] ?? []
  const replaced = (value: unknown): unknown =>
    typeof value === 'string'
      ? text
      : Array.isArray(value)
        ? value.map((one) => (typeof one === 'string' ? text : within(one)))
        : value
  const within = (value: object): object =>
    Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, own.includes(name) ? one : replaced(one)]),
    )
  return within(content)
}

const tagsOf = (html: string): string[] => (html.match(/<[^>]*>/g) ?? []).filter((tag) => tag !== '<br>')

test('no text of other users changes the structure of a mail or adds a link', () => {
  const cases = Object.entries(contents).flatMap(([template, examples]) =>
    examples.map((content) => [template as 'test', content as object] as const),
  )
  fc.assert(
    fc.property(nasty, (text) => {
      for (const [template, content] of cases) {
        const of = (words: string) =>
          fillTemplate(template, hostile(template, content, words) as { at: string }, sender)
        const [mail, plain] = [of(`x${text}`), of('x')]
        assert.equal(mail.subject, plain.subject)
        assert.deepEqual(tagsOf(mail.html), tagsOf(plain.html))
        const shown = tagsOf(mail.html).reduce((rest, tag) => rest.replace(tag, ''), mail.html)
        for (const body of [shown, mail.text]) {
          const theirs = body
            .replaceAll(escapeHtml(link), '')
            .replaceAll(link, '')
            .replaceAll(sender.contact, '')
            .replaceAll(/203\.0\.113\.0\/24|2001:db8:fd::\/48/g, '')
          for (const pattern of follows) assert.doesNotMatch(theirs, pattern)
        }
        assert.doesNotMatch(shown.replaceAll('<br>', ''), /[<>"']/)
      }
    }),
    { numRuns: 300 },
  )
})

test('text of other users is quoted, so that no line looks like one of the provider', () => {
  fc.assert(
    fc.property(nasty, (message) => {
      const { text } = fillTemplate(
        'invitation',
        { link, days: 7, team: 'Blue', invitedBy: 'Anna', message },
        sender,
      )
      const begin = text.indexOf('Anna writes:')
      if (begin < 0) return
      const [, quoted = ''] = text.slice(begin).split('\n\n')
      for (const line of quoted.split('\n')) assert.match(line, /^> /)
      assert.equal(text.split('\n--\n').length, 2)
    }),
    { numRuns: scaled(1_000) },
  )
})
