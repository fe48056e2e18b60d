// Transaction signatures (RFC 8945) of requests, answers and streams of answers (transfers). Time comes from the
// caller, in Unix seconds. Independent of the storage and the permissions of keys.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { MessageError, headerLength, read16 } from './message.ts'
import type { Message } from './message.ts'
import { write16, write32 } from './message-writer.ts'
import { nameToWire, parseName } from './name.ts'
import type { DomainName } from './name.ts'
import { decodeTsig, encodeTsig, timeOctets, uint16s } from './tsig-record.ts'
import type { Tsig } from './tsig-record.ts'
import { recordClass, recordType } from './type.ts'

/** Digests by the name of the algorithm. HMAC-MD5 is not offered. */
const digests = {
  'hmac-sha1': { hash: 'sha1', octets: 20 },
  'hmac-sha224': { hash: 'sha224', octets: 28 },
  'hmac-sha256': { hash: 'sha256', octets: 32 },
  'hmac-sha384': { hash: 'sha384', octets: 48 },
  'hmac-sha512': { hash: 'sha512', octets: 64 },
} as const

export type TsigAlgorithm = keyof typeof digests
export const tsigAlgorithms = Object.keys(digests) as readonly TsigAlgorithm[]

export type TsigKey = {
  readonly name: DomainName
  readonly algorithm: TsigAlgorithm
  readonly secret: Uint8Array
}

/** The error field (RFC 8945 section 3). The RCODE of the answer is then NOTAUTH. */
export const tsigError = { NOERROR: 0, BADSIG: 16, BADKEY: 17, BADTIME: 18, BADTRUNC: 22 } as const
export type TsigErrorName = Exclude<keyof typeof tsigError, 'NOERROR'>

/** Seconds that the clocks may differ (RFC 8945 section 10). */
const fudgeSeconds = 300

/** Octets of the TSIG record that a signature of the key adds to a message. */
export function tsigLength({ name, algorithm }: TsigKey): number {
  return (
    nameToWire(name).length +
    10 +
    nameToWire(algorithmName(algorithm)).length +
    16 +
    digests[algorithm].octets
  )
}

/** A signature that does not hold. `signErrorAnswer` makes the answer. */
export class TsigError extends Error {
  readonly reason: TsigErrorName
  /** The key, where the signature itself was right: BADTIME and BADTRUNC are answered with a signature. */
  readonly key: TsigKey | undefined
  readonly tsig: Tsig | undefined
  readonly keyName: DomainName | undefined

  constructor(reason: TsigErrorName, keyName?: DomainName, tsig?: Tsig, key?: TsigKey) {
    super(`TSIG: ${reason}`)
    this.name = 'TsigError'
    this.reason = reason
    this.keyName = keyName
    this.tsig = tsig
    this.key = key
  }
}

export type VerifiedTsig = { readonly key: TsigKey; readonly mac: Uint8Array }

/** Signs a request. The MAC is needed to verify its answer. */
export function signRequest(
  wire: Uint8Array,
  key: TsigKey,
  nowSeconds: number,
): { wire: Uint8Array; mac: Uint8Array } {
  const tsig = unsigned(wire, key, nowSeconds)
  const mac = hmac(key, [wire, variables(key.name, tsig)])
  return { wire: append(wire, key.name, { ...tsig, mac }), mac }
}

/**
 * Verifies a request as received and decoded. Undefined if it has no signature. Throws TsigError, which `signErrorAnswer` answers, and MessageError
 * for a malformed record (FORMERR).
 */
export function verifyRequest(
  wire: Uint8Array,
  message: Message,
  findKey: (name: DomainName) => TsigKey | undefined,
  nowSeconds: number,
): VerifiedTsig | undefined {
  if (!message.tsig) return undefined
  const { name, rdata, start } = message.tsig
  const tsig = decodeTsig(rdata)
  const key = findKey(name)
  if (!key || algorithmName(key.algorithm) !== tsig.algorithm) throw new TsigError('BADKEY', name, tsig)
  verifyMac(key, tsig, [unsignedMessage(wire, start, tsig.originalId), variables(name, tsig)])
  checkTime(key, tsig, nowSeconds)
  return { key, mac: tsig.mac }
}

/** Signs the answer, or the answers in order, to a signed request. */
export class TsigSigner {
  readonly #key: TsigKey
  #mac: Uint8Array
  #isFirst = true

  constructor({ key, mac }: VerifiedTsig) {
    this.#key = key
    this.#mac = mac
  }

  /** Octets that a signature adds. */
  get length(): number {
    return tsigLength(this.#key)
  }

  /**
   * Returns the message with its signature. Every message of a stream is signed; later messages than the first cover
   * the time only (RFC 8945 section 5.3.1).
   */
  sign(wire: Uint8Array, nowSeconds: number): Uint8Array {
    const tsig = unsigned(wire, this.#key, nowSeconds)
    const covered = this.#isFirst ? variables(this.#key.name, tsig) : timers(tsig)
    const mac = hmac(this.#key, [withLength(this.#mac), wire, covered])
    this.#mac = mac
    this.#isFirst = false
    return append(wire, this.#key.name, { ...tsig, mac })
  }
}

/** Returns the answer to a request whose signature did not hold: with an empty MAC for BADKEY and BADSIG, otherwise signed (RFC 8945 section 5.2). */
export function signErrorAnswer(
  wire: Uint8Array,
  { reason, keyName, tsig, key }: TsigError,
  nowSeconds: number,
): Uint8Array {
  if (!keyName || !tsig) return wire
  const isTime = reason === 'BADTIME'
  const answer: Tsig = {
    ...tsig,
    mac: new Uint8Array(),
    originalId: read16(wire, 0),
    error: tsigError[reason],
    other: isTime ? timeOctets(nowSeconds) : new Uint8Array(),
    // BADTIME repeats the client's time, so that the client can verify the signature.
    time: isTime ? tsig.time : Math.floor(nowSeconds),
    fudge: fudgeSeconds,
  }
  if (!key) return append(wire, keyName, answer)
  const mac = hmac(key, [withLength(tsig.mac), wire, variables(keyName, answer)])
  return append(wire, keyName, { ...answer, mac })
}

/** Unsigned messages that a stream may have in a row (RFC 8945 section 5.3.1). */
const unsignedMax = 99

/** Verifies the answer, or the answers in order, to a request that was signed with `key`. */
export class TsigVerifier {
  readonly #key: TsigKey
  #mac: Uint8Array
  #isFirst = true
  #unsigned: Uint8Array[] = []

  constructor({ key, mac }: VerifiedTsig) {
    this.#key = key
    this.#mac = mac
  }

  /**
   * Verifies one message as received and decoded. The next signed message verifies the unsigned messages before it, so
   * no message may be used before `finish`. Throws TsigError; its reason is the peer's if the answer has one.
   */
  verify(wire: Uint8Array, message: Message, nowSeconds: number): void {
    const key = this.#key
    if (!message.tsig) {
      if (this.#isFirst || this.#unsigned.length >= unsignedMax) throw new TsigError('BADSIG', key.name)
      this.#unsigned.push(wire)
      return
    }
    const { name, rdata, start } = message.tsig
    const tsig = decodeTsig(rdata)
    if (name !== key.name || tsig.algorithm !== algorithmName(key.algorithm))
      throw new TsigError('BADKEY', name, tsig)
    if (tsig.mac.length === 0) throw new TsigError(peerReason(tsig) ?? 'BADSIG', name, tsig)
    const covered = this.#isFirst ? variables(name, tsig) : timers(tsig)
    const plain = unsignedMessage(wire, start, tsig.originalId)
    verifyMac(key, tsig, [withLength(this.#mac), ...this.#unsigned, plain, covered])
    const reason = peerReason(tsig)
    if (reason) throw new TsigError(reason, name, tsig, key)
    checkTime(key, tsig, nowSeconds)
    this.#mac = tsig.mac
    this.#isFirst = false
    this.#unsigned = []
  }

  /** Throws TsigError if the last message was not signed. */
  finish(): void {
    if (this.#isFirst || this.#unsigned.length > 0) throw new TsigError('BADSIG', this.#key.name)
  }
}

function peerReason({ error }: Tsig): TsigErrorName | undefined {
  const [found] = Object.entries(tsigError).find(([, code]) => code === error) ?? []
  return found === 'NOERROR' ? undefined : ((found ?? 'BADSIG') as TsigErrorName)
}

/** The key is known and the MAC is compared before the time, so that a forged time has no effect (RFC 8945 section 5.2). */
function verifyMac(key: TsigKey, tsig: Tsig, parts: readonly Uint8Array[]): void {
  const { octets } = digests[key.algorithm]
  const { mac } = tsig
  if (mac.length > octets || mac.length < Math.max(10, octets / 2))
    throw new MessageError('tsig', 'the MAC has a length that RFC 8945 does not allow')
  const expected = hmac(key, parts)
  if (!timingSafeEqual(expected.subarray(0, mac.length), mac)) throw new TsigError('BADSIG', key.name, tsig)
  if (mac.length < octets) throw new TsigError('BADTRUNC', key.name, tsig, key)
}

function checkTime(key: TsigKey, tsig: Tsig, nowSeconds: number): void {
  if (Math.abs(nowSeconds - tsig.time) > tsig.fudge) throw new TsigError('BADTIME', key.name, tsig, key)
}

function unsigned(wire: Uint8Array, key: TsigKey, nowSeconds: number): Tsig {
  return {
    algorithm: algorithmName(key.algorithm),
    time: Math.floor(nowSeconds),
    fudge: fudgeSeconds,
    mac: new Uint8Array(),
    originalId: read16(wire, 0),
    error: tsigError.NOERROR,
    other: new Uint8Array(),
  }
}

const algorithmNames = new Map(tsigAlgorithms.map((algorithm) => [algorithm, parseName(algorithm)]))

function algorithmName(algorithm: TsigAlgorithm): DomainName {
  return algorithmNames.get(algorithm)!
}

function hmac({ algorithm, secret }: TsigKey, parts: readonly Uint8Array[]): Uint8Array {
  const mac = createHmac(digests[algorithm].hash, secret)
  for (const part of parts) mac.update(part)
  return mac.digest()
}

/** RFC 8945 section 4.3.3. */
function variables(keyName: DomainName, { algorithm, time, fudge, error, other }: Tsig): Uint8Array {
  return Buffer.concat([
    nameToWire(keyName),
    uint16s(recordClass.ANY, 0, 0),
    nameToWire(algorithm),
    timeOctets(time),
    uint16s(fudge, error, other.length),
    other,
  ])
}

function timers({ time, fudge }: Tsig): Uint8Array {
  return Buffer.concat([timeOctets(time), uint16s(fudge)])
}

function withLength(mac: Uint8Array): Uint8Array {
  return Buffer.concat([uint16s(mac.length), mac])
}

/** The message as it was before it was signed: with its own id, without the TSIG record. */
function unsignedMessage(wire: Uint8Array, start: number, originalId: number): Uint8Array {
  const message = wire.slice(0, start)
  write16(message, 0, originalId)
  write16(message, 10, read16(message, 10) - 1)
  return message
}

function append(wire: Uint8Array, keyName: DomainName, tsig: Tsig): Uint8Array {
  const rdata = encodeTsig(tsig)
  const owner = nameToWire(keyName)
  const message = new Uint8Array(wire.length + owner.length + 10 + rdata.length)
  message.set(wire)
  message.set(owner, wire.length)
  const at = wire.length + owner.length
  write16(message, at, recordType.TSIG)
  write16(message, at + 2, recordClass.ANY)
  write32(message, at + 4, 0)
  write16(message, at + 8, rdata.length)
  message.set(rdata, at + 10)
  write16(message, headerLength - 2, read16(message, headerLength - 2) + 1)
  return message
}
