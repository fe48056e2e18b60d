// An authenticator in software for tests: it makes passkeys of P-256 and signs as WebAuthn Level 3 states, and can be wrong in one way.
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import type {
  PasskeyAssertion,
  PasskeyCreation,
  PasskeyRegistration,
  PasskeyRequest,
} from '@pharos/contract/session/webauthn'

export type Signing = {
  readonly origin?: string
  readonly rpId?: string
  readonly verifiesUser?: boolean
  readonly challenge?: string
  /** Signs with another key. */
  readonly foreignKey?: boolean
  readonly counter?: number
  readonly crossOrigin?: boolean
  readonly type?: string
  readonly userHandle?: string
}

type Cbor = number | string | Buffer | ReadonlyMap<number | string, Cbor>

export class Authenticator {
  readonly id = randomBytes(32)
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #origin: string
  #userHandle = Buffer.from('user:1').toString('base64url')
  #counter: number

  /** Without a counter, as passkeys that are synchronised, it sends 0. */
  constructor(origin: string, { counts = true } = {}) {
    this.#origin = origin
    this.#counter = counts ? 0 : -1
  }

  create({ challenge, rp, user }: PasskeyCreation, signing: Signing = {}): PasskeyRegistration {
    this.#userHandle = user.id
    const attested = Buffer.concat([Buffer.alloc(16), uint16(this.id.length), this.id, cbor(this.#coseKey())])
    const authData = this.#authenticatorData(rp.id, signing, attested)
    const statement = new Map<string, Cbor>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ])
    return {
      id: this.id.toString('base64url'),
      response: {
        clientDataJSON: this.#clientData('webauthn.create', challenge, signing),
        attestationObject: cbor(statement).toString('base64url'),
        transports: ['internal'],
      },
    }
  }

  get({ challenge, rpId }: PasskeyRequest, signing: Signing = {}): PasskeyAssertion {
    const clientDataJSON = this.#clientData('webauthn.get', challenge, signing)
    const authenticatorData = this.#authenticatorData(rpId, signing)
    const signed = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, 'base64url'))])
    const key: KeyObject = signing.foreignKey
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
      : this.#keys.privateKey
    return {
      id: this.id.toString('base64url'),
      response: {
        clientDataJSON,
        authenticatorData: authenticatorData.toString('base64url'),
        signature: sign('sha256', signed, key).toString('base64url'),
        userHandle: signing.userHandle ?? this.#userHandle,
      },
    }
  }

  #clientData(type: string, challenge: string, signing: Signing): string {
    const data = {
      type: signing.type ?? type,
      challenge: signing.challenge ?? challenge,
      origin: signing.origin ?? this.#origin,
      crossOrigin: signing.crossOrigin ?? false,
    }
    return Buffer.from(JSON.stringify(data)).toString('base64url')
  }

  /** WebAuthn, section 6.1. */
  #authenticatorData(
    rpId: string,
    { verifiesUser = true, counter, ...signing }: Signing,
    attested?: Buffer,
  ): Buffer {
    if (this.#counter >= 0) this.#counter = counter ?? this.#counter + 1
    const flags = 0x01 | (verifiesUser ? 0x04 : 0) | (attested ? 0x40 : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(Math.max(this.#counter, 0))
    return Buffer.concat([
      sha256(Buffer.from(signing.rpId ?? rpId)),
      Buffer.of(flags),
      count,
      attested ?? Buffer.alloc(0),
    ])
  }

  /** RFC 9053: EC2, ES256, P-256. */
  #coseKey(): Cbor {
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' })
    return new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x!, 'base64url')],
      [-3, Buffer.from(y!, 'base64url')],
    ])
  }
}

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

/** RFC 8949, as far as the above needs it. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  const pairs = [...value].flatMap(([key, inner]) => [cbor(key), cbor(inner)])
  return Buffer.concat([head(5, value.size), ...pairs])
}

function head(kind: number, value: number): Buffer {
  if (value < 24) return Buffer.of((kind << 5) | value)
  if (value < 256) return Buffer.of((kind << 5) | 24, value)
  return Buffer.concat([Buffer.of((kind << 5) | 25), uint16(value)])
}
