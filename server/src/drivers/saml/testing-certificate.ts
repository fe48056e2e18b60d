// Self-signed certificates for tests, as DER (RFC 5280). The product does not import this file.
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'

export type TestKey = { readonly privateKey: KeyObject; readonly certificate: string }

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts)
const oid = (hex: string) => der(6, Buffer.from(hex, 'hex'))
const time = (date: Date) => der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]|\.\d+/g, '')}`))

export type CertificateOptions = {
  readonly kind?: 'rsa' | 'ec'
  readonly bits?: number
  readonly expires?: Date
}

/** `certificate` is base64 of DER. */
export function createTestKey({
  kind = 'rsa',
  bits = 2048,
  expires = new Date(Date.now() + 3650 * 86_400_000),
}: CertificateOptions = {}): TestKey {
  const { publicKey, privateKey } =
    kind === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: bits })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm =
    kind === 'rsa' ? sequence(oid('2a864886f70d01010b'), der(5)) : sequence(oid('2a8648ce3d040302'))
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from('Test IdP')))))
  const body = sequence(
    der(0xa0, der(2, Buffer.from([2]))),
    der(2, Buffer.from([1])),
    algorithm,
    name,
    sequence(time(new Date('2020-01-01T00:00:00Z')), time(expires)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = sign('sha256', body, privateKey)
  const certificate = sequence(body, algorithm, der(3, Buffer.from([0]), signature))
  return { privateKey, certificate: certificate.toString('base64') }
}
