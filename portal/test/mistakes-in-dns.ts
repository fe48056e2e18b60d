// Mistakes that people make on the pages of DNS, for the test of the words in which they are told.
import type { Page } from 'playwright-core'
import { refused, type Reply } from './intercept.ts'

/** `refusal`: the answer to requests of an address, for mistakes that the demo cannot make. */
type Mistake = readonly [
  place: string,
  what: string,
  make: (page: Page) => Promise<void>,
  refusal?: readonly [address: string, reply: Reply],
]

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).last().click()
const zone = '/zones/demo-networks.example'

const create = (what: string, name: string): Mistake => [
  '/zones/new',
  what,
  async (page) => {
    await page.getByLabel('Name', { exact: true }).fill(name)
    await press(page, 'Create zone')
  },
]

const importing = (what: string, text: string): Mistake => [
  `${zone}?tab=import`,
  what,
  async (page) => {
    await page.getByLabel('Text of the zone file').fill(text)
    await press(page, 'Check file')
  },
]

/** A record set that is not valid; `name` is new in the zone. */
const record = (what: string, name: string, type: string, values: string, ttl = '1h'): Mistake => [
  zone,
  what,
  async (page) => {
    await press(page, 'Add record')
    await page.getByLabel('Name of the record set').fill(name)
    await page.getByRole('combobox', { name: 'Type of the record set' }).fill(type)
    await page.getByRole('combobox', { name: 'TTL of the record set' }).fill(ttl)
    await page.getByLabel('Values, one per line').fill(values)
    await press(page, 'Review changes')
  },
]

const setting = (label: string, value: string): Mistake => [
  `${zone}?tab=settings`,
  `${label} ${value}`,
  async (page) => {
    // The label of a field that may stay empty says so.
    await page
      .getByLabel(new RegExp(`^${label}`))
      .first()
      .fill(value)
    await page.keyboard.press('Tab')
    await press(page, 'Save settings')
  },
]

const pasting = (what: string, text: string): Mistake => [
  '/reverse',
  what,
  async (page) => {
    await press(page, 'Paste names')
    await page.getByLabel('Addresses and names').fill(text)
    await press(page, 'Check')
  },
]

const template = (what: string, network: string, pattern: string): Mistake => [
  '/reverse?tab=templates',
  what,
  async (page) => {
    await press(page, 'Add template')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Network').fill(network)
    await dialog.getByLabel('Pattern').fill(pattern)
    await press(page, 'Apply template')
  },
]

const refusal = (code: string, errors: object[] = []) =>
  refused(409, code, {
    title: 'Conflict',
    detail: 'Repeat with `force=true`.',
    help: 'See GET /v3/dns/zones',
    ...(errors.length > 0 ? { errors } : {}),
  })

/** Of another customer, whom the demo does not have. */
const claimed: Mistake = [
  '/zones/new',
  'a name of another customer',
  async (page) => {
    await page.getByLabel('Name', { exact: true }).fill('shop.example')
    await press(page, 'Create zone')
    await page.getByRole('button', { name: 'Copy text of the record' }).waitFor()
  },
  [
    '**/v3/dns/zones',
    refusal('zone_claimed', [
      {
        loc: ['body', 'name'],
        msg: 'is held by another customer of the provider',
        type: 'zone_claimed',
        ctx: {
          record_name: '_pharos-challenge.shop.example',
          record_type: 'TXT',
          record_value: 'pharos-domain-verification=Zm9yIHRoZSB0ZXN0',
        },
      },
    ]),
  ],
]

const deleting = (code: string): Mistake => [
  zone,
  `deleting: ${code}`,
  async (page) => {
    await press(page, 'More actions')
    await page.getByRole('menuitem', { name: 'Delete zone' }).click()
    await page.getByLabel(/Type the name/).fill('demo-networks.example')
    await press(page, 'Delete zone')
  },
  ['**/v3/dns/zones/*?confirm=*', refusal(code)],
]

export const mistakesInDns: readonly Mistake[] = [
  ['/zones/nothing.example', 'no such zone', () => Promise.resolve()],
  create('no name', 'not a name..'),
  create('a public suffix', 'com'),
  create('a zone that exists', 'demo-networks.example'),
  create('reverse DNS of somebody else', '8.8.8.in-addr.arpa'),
  claimed,
  [
    '/zones/new',
    'a secondary zone without primary servers',
    async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('copy.example')
      await page.getByRole('combobox', { name: 'Kind' }).click()
      await page.getByRole('option', { name: 'Secondary' }).click()
      await press(page, 'Create zone')
    },
  ],
  importing('nothing', ''),
  importing(
    'lines that are not valid',
    [
      'www 300 IN A 192.0.2.300',
      'mail MX mail',
      '$INCLUDE other.zone',
      'x TYPE1 \\# 3 00',
      'a TXT "open',
      'b CAA 0 issue',
      'c HTTPS 1 . alpn',
      'blog A 192.0.2.1',
      '$GENERATE 5-1 h$ A 192.0.2.$',
      'd LOC 1 2 3',
      'e DS 1 13 2 00',
      'f ALIAS x',
    ].join('\n'),
  ),
  importing(
    'lines that are left out',
    '@ SOA a. b. 1 2 3 4 5\n@ NS ns9.example.net.\nother.example.org. A 192.0.2.1\nwww CH A 192.0.2.1\n@ DNSKEY 257 3 13 AAAA\n',
  ),
  [
    '/zones/import',
    'a name server that does not answer',
    async (page) => {
      await page.getByLabel('Zone', { exact: true }).fill('moved.example')
      await page
        .getByLabel(/^Name server/)
        .first()
        .check()
      await press(page, 'Transfer and check')
      await page.getByText('Enter the IP address of the name server.').waitFor()
      await page.getByRole('combobox', { name: 'TSIG key' }).fill('nobody.example')
      await page.getByLabel('Name server', { exact: true }).fill('127.0.0.1')
      await press(page, 'Transfer and check')
    },
  ],
  record('no address', 'a', 'A', '192.0.2.300'),
  record('no preference', 'b', 'MX', 'mail'),
  record('a CNAME beside others', 'www', 'CNAME', 'x.example.net.'),
  record('a name in another zone', 'www.example.org.', 'A', '192.0.2.1'),
  record('a name without its dot', 'www.demo-networks.example', 'A', '192.0.2.1'),
  record('no type', 'c', 'NOTYPE', 'x'),
  record('a type that does not exist', 'd', 'ALIASES', 'x.example.net.'),
  record('a managed type', 'e', 'RRSIG', 'x'),
  record('managed NS records', '@', 'NS', 'ns9.example.net.'),
  record('a TTL that is too low', 'f', 'A', '192.0.2.1', '1'),
  record('no TTL', 'g', 'A', '192.0.2.1', 'soon'),
  record('no values', 'h', 'A', ''),
  record('a label that is too long', 'i'.repeat(64), 'A', '192.0.2.1'),
  setting('Contact', 'hostmaster@example.net'),
  setting('Expire', '60'),
  setting('Retry', '7200'),
  setting('Lowest TTL', '7200'),
  setting('Allow transfers to', 'everybody'),
  setting('Also notify', 'ns1'),
  [
    `${zone}?tab=settings`,
    'NS records that the provider does not allow',
    async (page) => {
      await page.getByRole('switch', { name: 'Edit them as records' }).check({ force: true })
      await press(page, 'Save settings')
    },
  ],
  pasting('nothing', ''),
  pasting('an address of somebody else', '8.8.8.8 a.example.net'),
  pasting('no name', '203.0.113.1 a..b'),
  pasting('one word', '203.0.113.1'),
  template('an unknown placeholder', '203.0.113.0/24', '{x}.example.net'),
  template('too wide a network', '2001:db8:a::/48', '{ip-dashed}.example.net'),
  template('a network of somebody else', '8.8.8.0/24', 'a.example.net'),
  deleting('delegated'),
  deleting('delete_protected'),
]
