// Tests every known way to write an address that must not be reached, and as many random ones.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parsePorts } from '../net/port-list.ts'
import { codePoint } from '../runtime/testing-code-point.ts'
import { parsePrefix } from '../net/prefix.ts'
import { objectionToAddress } from '../net/public-address.ts'
import { Failure } from '../runtime/error.ts'
import { hostOf, parseWebhookUrl } from './webhook-url.ts'
import { scaled } from '../runtime/testing-scale.ts'

const ports = parsePorts(['80', '443', '6667', '8080-8443'])
const own = [parsePrefix('127.0.0.0/8'), parsePrefix('fd00::/8')]

/** The type of the error, or the URL as stored. */
function outcome(text: string, allowed = [] as typeof own): string {
  try {
    return parseWebhookUrl(text, { networks: allowed, ports })
  } catch (error) {
    assert.ok(error instanceof Failure, String(error))
    assert.deepEqual(error.errors?.[0]?.loc, ['body', 'url'])
    return error.errors![0]!.type
  }
}

describe('the URL of a webhook', () => {
  it('is stored in the spelling of the URL standard', () => {
    assert.equal(outcome('HTTPS://Hooks.Example.NET:443/ä?c=d'), 'https://hooks.example.net/%C3%A4?c=d')
    assert.equal(outcome('https://1.1.1.1:8443/'), 'https://1.1.1.1:8443/')
    assert.equal(outcome('https://16843009/'), 'https://1.1.1.1/')
    assert.equal(outcome('https://[2606:4700::0:1111]/x'), 'https://[2606:4700::1111]/x')
    assert.equal(outcome('https://bücher.example/'), 'https://xn--bcher-kva.example/')
  })

  it('is rejected if it is no valid target', () => {
    const cases: Record<string, string> = {
      '': 'url',
      'hooks.example.net': 'url',
      'https://': 'url',
      'https://hooks.example.net/a b': 'url',
      ' https://hooks.example.net/': 'url',
      'https://hooks.exam\tple.net/': 'url',
      'https://hooks.example.net/\u0000': 'url',
      'https:///': 'url',
      'ftp://hooks.example.net/': 'scheme',
      'file:///etc/passwd': 'scheme',
      'gopher://hooks.example.net/': 'scheme',
      'javascript:alert(1)': 'scheme',
      'http://hooks.example.net/': 'scheme',
      'http://1.1.1.1/': 'scheme',
      'https://user:password@hooks.example.net/': 'credentials',
      'https://user@hooks.example.net/': 'credentials',
      'https://hooks.example.net/#part': 'fragment',
      'https://hooks.example.net:22/': 'port',
      'https://hooks.example.net:25/': 'port',
      'https://hooks.example.net:6667/': 'port',
      'https://hooks.example.net:8444/': 'port',
      'https://hooks.example.net:80/': 'https://hooks.example.net:80/',
      'https://hooks.example.net:70000/': 'url',
      'https://localhost/': 'host',
      'https://LOCALHOST./': 'host',
      'https://a.localhost/': 'host',
      'https://intranet/': 'host',
      'https://metadata.google.internal/': 'host',
      'https://printer.local/': 'host',
      [`https://hooks.example.net/${'x'.repeat(2000)}`]: 'url',
    }
    for (const [text, type] of Object.entries(cases)) assert.equal(outcome(text), type, text)
  })

  it('is rejected in thirteen spellings of loopback, and for any other address that is not public', () => {
    const hosts = (
      '127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 0177.0.0.1 017700000001 0 ' +
      '0.0.0.0 [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:0:0:1] [::] 127.0.0.1. ' +
      '%31%32%37.0.0.1 １２７.0.0.1 ①②⑦.0.0.1 127。0。0。1 [::127.0.0.1] [64:ff9b::7f00:1] ' +
      '[2002:7f00:1::] [fe80::1] [fd00:ec2::254] 169.254.169.254 0xa9fea9fe 10.1 192.168.257 ' +
      '100.64.0.1 203.0.113.7 224.0.0.1 255.255.255.255 168.63.129.16'
    ).split(' ')
    for (const host of hosts) assert.equal(outcome(`https://${host}/`), 'address', host)
  })

  it('is rejected with a message for the customer, or for staff with the name of the setting', () => {
    for (const url of ['https://10.0.0.1/', 'https://hooks.internal/']) {
      const refusal = (forStaff: boolean) => {
        try {
          return parseWebhookUrl(url, { networks: [], ports }, forStaff)
        } catch (error) {
          return (error as Failure).message
        }
      }
      assert.match(refusal(false), /ask your provider/)
      assert.doesNotMatch(refusal(false), /webhook_networks_allowed/)
      assert.match(refusal(true), /webhook_networks_allowed/)
    }
  })

  it('may be in one of the operator’s own networks, then also without TLS', () => {
    assert.equal(outcome('http://127.0.0.1:8080/x', own), 'http://127.0.0.1:8080/x')
    assert.equal(outcome('http://[fd00::1]/', own), 'http://[fd00::1]/')
    assert.equal(outcome('http://hooks.internal/', own), 'http://hooks.internal/')
    assert.equal(outcome('http://10.0.0.1/', own), 'scheme')
    assert.equal(outcome('https://10.0.0.1/', own), 'address')
    assert.equal(outcome('http://[::ffff:127.0.0.1]/', own), 'scheme')
    assert.equal(outcome('http://127.0.0.1:22/', own), 'port')
  })

  it('never leads to an address that is not public, for any spelling', () => {
    const octet = fc.integer({ min: 0, max: 255 })
    const special = fc.constantFrom([127], [10], [0], [169, 254], [192, 168], [100, 64], [172, 16], [224])
    const address = fc
      .tuple(special, fc.tuple(octet, octet, octet, octet))
      .map(([head, rest]) => [...head, ...rest].slice(0, 4))
    const number = (bytes: number[]) => bytes.reduce((sum, byte) => sum * 256 + byte, 0)
    const digits = (value: number, how: number) =>
      [String(value), `0x${value.toString(16)}`, `0${value.toString(8)}`, `0X00${value.toString(16)}`][how]!
    const spelt = fc
      .tuple(address, fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(3), { minLength: 4, maxLength: 4 }))
      .map(([bytes, parts, how]) => {
        const head = bytes.slice(0, parts - 1).map((byte, at) => digits(byte, how[at]!))
        return [...head, digits(number(bytes.slice(parts - 1)), how[3]!)].join('.')
      })
    const inside = address.map((bytes) => {
      const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
      return `${hex.slice(0, 4)}:${hex.slice(4)}`
    })
    const six = fc
      .tuple(inside, fc.constantFrom('::ffff:', '::', '64:ff9b::', '2002:'))
      .map(([part, head]) => `[${head}${part}${head === '2002:' ? '::' : ''}]`)
    fc.assert(
      fc.property(fc.oneof(spelt, six), (host) => {
        assert.equal(outcome(`https://${host}/`), 'address', host)
      }),
      { numRuns: scaled(2_000) },
    )
  })

  it('is rejected or safe for any text', () => {
    const piece = fc.constantFrom(
      'https:',
      '//',
      '/',
      '\\',
      '@',
      ':',
      '#',
      '?',
      '127.0.0.1',
      '[::1]',
      '%',
      '.',
    )
    const text = fc
      .array(fc.oneof(piece, fc.string({ unit: codePoint, maxLength: 6 })), { maxLength: 10 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          text.map((rest) => `https://${rest}`),
          fc.webUrl(),
        ),
        (written) => {
          const result = outcome(written)
          if (!result.includes('://')) return
          const url = new URL(result)
          assert.equal(url.protocol, 'https:')
          assert.equal(url.username + url.password + url.hash, '')
          const host = hostOf(url)
          if (/^[\d.]+$|:/.test(host)) assert.equal(objectionToAddress(host), undefined, host)
          assert.equal(outcome(result), result, 'it is its own canonical spelling')
        },
      ),
      { numRuns: scaled(1_500) },
    )
  })
})
