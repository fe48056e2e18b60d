// Transaction signatures of messages with a shared key (TSIG, RFC 8945): signs and verifies octets. Times are Unix seconds. It knows no
// sockets; the caller decides what a key may do.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { MessageError, read16 } from './message.ts'
import type { Message } from './message.ts'
import { write16, write32 } from './message-writer.ts'
import { nameFromWire, nameToWire, parseName, skipName } from './name.ts'
import type { DomainName } from './name.ts'
import { recordClass, recordType } from './type.ts'

/** Length of the MAC in octets by the algorithm's name without the final dot. */
const macLengths = {
  'hmac-sha1': 20,
  'hmac-sha224': 28,
  'hmac-sha256': 32,
  'hmac-sha384': 48,
  'hmac-sha512': 64,
} as const

export type TsigAlgorithm = keyof typeof macLengths

export const tsigAlgorithms = Object.keys(macLengths) as readonly TsigAlgorithm[]

export type TsigKey = {
  readonly name: DomainName
  readonly algorithm: TsigAlgorithm
  readonly secret: Uint8Array
}

/** Codes of the error field (RFC 8945 section 3). */
export const tsigError = { BADSIG: 16, BADKEY: 17, BADTIME: 18, BADTRUNC: 22 } as const
export type TsigErrorName = keyof typeof tsigError

/** Seconds that the clocks of both sides may differ (RFC 8945 section 10). */
const fudgeSeconds = 300

type Tsig = {
  readonly keyName: DomainName
  readonly algorithm: DomainName
  readonly time: number
  readonly fudge: number
  readonly mac: Uint8Array
  readonly originalId: number
  readonly error: number
  readonly other: Uint8Array
}

/** The message that the record covers, the record, and the MAC of the request or of the message before. */
type Covered = { readonly prior: Uint8Array; readonly messages: readonly Uint8Array[]; readonly tsig: Tsig }

const none = new Uint8Array()

/** Parses the TSIG record of a decoded message. Throws MessageError if it is malformed. */
function readTsig({ tsig }: Message): Tsig {
  const { name: keyName, rdata } = tsig!
  const end = skipName(rdata, 0, rdata.length)
  const malformed = new MessageError('tsig', 'TSIG is malformed')
  if (end < 0 || end + 16 > rdata.length) throw malformed
  const macEnd = end + 10 + read16(rdata, end + 8)
  if (macEnd + 6 > rdata.length || macEnd + 6 + read16(rdata, macEnd + 4) !== rdata.length) throw malformed
  return {
    keyName,
    algorithm: nameFromWire(rdata),
    time: readTime(rdata, end),
    fudge: read16(rdata, end + 6),
    mac: rdata.subarray(end + 10, macEnd),
    originalId: read16(rdata, macEnd),
    error: read16(rdata, macEnd + 2),
    other: rdata.subarray(macEnd + 6),
  }
}

const readTime = (octets: Uint8Array, at: number): number =>
  Buffer.from(octets.buffer, octets.byteOffset + at, 6).readUIntBE(0, 6)

function time48(time: number): Uint8Array {
  const octets = Buffer.alloc(6)
  octets.writeUIntBE(time, 0, 6)
  return octets
}

function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value)
}

/** The fields of the first or only signature (RFC 8945 section 4.3.3). */
const variablesOf = ({ keyName, algorithm, time, fudge, error, other }: Tsig): Uint8Array[] => [
  nameToWire(keyName),
  uint16(recordClass.ANY),
  Uint8Array.of(0, 0, 0, 0),
  nameToWire(algorithm),
  time48(time),
  uint16(fudge),
  uint16(error),
  uint16(other.length),
  other,
]

/** `timers`: a later message of a sequence, which covers only the times (RFC 8945 section 5.3.1). */
function computeMac(key: TsigKey, { prior, messages, tsig }: Covered, timers: boolean): Uint8Array {
  const hmac = createHmac(key.algorithm.slice(5), key.secret)
  if (prior.length > 0) hmac.update(uint16(prior.length)).update(prior)
  for (const message of messages) hmac.update(message)
  const fields = timers ? [time48(tsig.time), uint16(tsig.fudge)] : variablesOf(tsig)
  for (const field of fields) hmac.update(field)
  return hmac.digest()
}

function appendTsig(wire: Uint8Array, tsig: Tsig): Uint8Array {
  const { keyName, algorithm, time, fudge, mac, originalId, error, other } = tsig
  const rdata = Buffer.concat([
    nameToWire(algorithm),
    time48(time),
    uint16(fudge),
    uint16(mac.length),
    mac,
    uint16(originalId),
    uint16(error),
    uint16(other.length),
    other,
  ])
  const owner = nameToWire(keyName)
  const head = new Uint8Array(10)
  write16(head, 0, recordType.TSIG)
  write16(head, 2, recordClass.ANY)
  write32(head, 4, 0)
  write16(head, 8, rdata.length)
  const signed = Buffer.concat([wire, owner, head, rdata])
  write16(signed, 10, read16(signed, 10) + 1)
  return new Uint8Array(signed.buffer, signed.byteOffset, signed.length)
}

/** Returns the octets that TSIG of a message covers: without the record, with the original id. */
function coveredOctets(wire: Uint8Array, start: number, originalId: number): Uint8Array {
  const octets = new Uint8Array(wire.subarray(0, start))
  write16(octets, 0, originalId)
  write16(octets, 10, read16(octets, 10) - 1)
  return octets
}

const algorithmName = (key: TsigKey): DomainName => parseName(key.algorithm)

function newTsig(key: TsigKey, wire: Uint8Array, now: number, over: Partial<Tsig> = {}): Tsig {
  return {
    keyName: key.name,
    algorithm: algorithmName(key),
    time: Math.floor(now),
    fudge: fudgeSeconds,
    mac: none,
    originalId: read16(wire, 0),
    error: 0,
    other: none,
    ...over,
  }
}

/** Octets that a signature with the key adds to a message. */
export function tsigLength(key: TsigKey): number {
  return nameToWire(key.name).length + 10 + nameToWire(algorithmName(key)).length + 16 + macLengths[key.algorithm]
}

/** Signs messages of one transaction: a request, or the answers to it in their order. Every message is signed. */
export class TsigSigner {
  readonly key: TsigKey
  #prior: Uint8Array
  #isFirst = true

  /** `requestMac` is that of the request that is answered; none for a request. */
  constructor(key: TsigKey, requestMac: Uint8Array = none) {
    this.key = key
    this.#prior = requestMac
  }

  /** Returns the message with its signature. */
  sign(wire: Uint8Array, now: number): Uint8Array {
    const tsig = newTsig(this.key, wire, now)
    const mac = computeMac(this.key, { prior: this.#prior, messages: [wire], tsig }, !this.#isFirst)
    this.#prior = mac
    this.#isFirst = false
    return appendTsig(wire, { ...tsig, mac })
  }

  /** The MAC of the last message, which the answer covers. */
  get mac(): Uint8Array {
    return this.#prior
  }
}

export type TsigVerdict =
  | { readonly ok: true; readonly key: TsigKey; readonly mac: Uint8Array }
  | {
      readonly ok: false
      readonly error: TsigErrorName
      /** Returns the answer with TSIG that tells the error: signed for BADTIME, otherwise without a MAC (RFC 8945 section 5.2). */
      readonly answer: (wire: Uint8Array, now: number) => Uint8Array
    }

/** Verifies the signature of a request; `message` is `wire` decoded, and has TSIG. Throws MessageError if the record is malformed. */
export function verifyTsig(
  wire: Uint8Array,
  message: Message,
  findKey: (name: DomainName) => TsigKey | undefined,
  now: number,
): TsigVerdict {
  const tsig = readTsig(message)
  const key = findKey(tsig.keyName)
  const refuse = (error: TsigErrorName): TsigVerdict => ({
    ok: false,
    error,
    answer: (answer) =>
      appendTsig(answer, { ...tsig, mac: none, error: tsigError[error], other: none, originalId: message.id }),
  })
  if (!key || algorithmName(key) !== tsig.algorithm) return refuse('BADKEY')
  checkMacLength(key, tsig)
  const messages = [coveredOctets(wire, message.tsig!.start, tsig.originalId)]
  const mac = computeMac(key, { prior: none, messages, tsig }, false)
  if (!equal(mac.subarray(0, tsig.mac.length), tsig.mac)) return refuse('BADSIG')
  if (tsig.mac.length < mac.length) return refuse('BADTRUNC')
  if (Math.abs(now - tsig.time) > tsig.fudge) return refuseTime(key, tsig, mac)
  return { ok: true, key, mac }
}

function refuseTime(key: TsigKey, { time, fudge }: Tsig, prior: Uint8Array): TsigVerdict {
  return {
    ok: false,
    error: 'BADTIME',
    answer(wire, now) {
      const over = { time, fudge, error: tsigError.BADTIME, other: time48(Math.floor(now)) }
      const tsig = newTsig(key, wire, now, over)
      const mac = computeMac(key, { prior, messages: [wire], tsig }, false)
      return appendTsig(wire, { ...tsig, mac })
    },
  }
}

/** RFC 8945 section 5.2.2.1: not longer than the hash, and not shorter than half of it or 10 octets. */
function checkMacLength({ algorithm }: TsigKey, { mac }: Tsig): void {
  const length = macLengths[algorithm]
  if (mac.length > length || mac.length < Math.max(10, length / 2))
    throw new MessageError('tsig', 'the MAC of TSIG has a wrong length')
}

const equal = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)

/** Why an answer is not accepted: `unsigned`, or the error that we found or that the other side told. */
export class TsigFailure extends Error {
  readonly reason: TsigErrorName | 'unsigned' | 'unknown'

  constructor(reason: TsigFailure['reason']) {
    super(`the signature of the answer was not accepted: ${reason}`)
    this.name = 'TsigFailure'
    this.reason = reason
  }
}

/** Unsigned messages between two signed ones of a sequence (RFC 8945 section 5.3.1). */
const unsignedMax = 99

/** Verifies the answers to one signed request in their order. */
export class TsigVerifier {
  readonly #key: TsigKey
  #prior: Uint8Array
  #isFirst = true
  #unsigned: Uint8Array[] = []

  constructor(key: TsigKey, requestMac: Uint8Array) {
    this.#key = key
    this.#prior = requestMac
  }

  /**
   * Accepts a message of the sequence. The first one must be signed; later unsigned ones count once a signed one covers them, see
   * `isComplete`. Throws TsigFailure, and MessageError if the record is malformed.
   */
  verify(wire: Uint8Array, message: Message, now: number): void {
    if (!message.tsig) {
      this.#unsigned.push(wire.slice())
      if (this.#isFirst || this.#unsigned.length > unsignedMax) throw new TsigFailure('unsigned')
      return
    }
    const tsig = readTsig(message)
    if (tsig.error !== 0 && tsig.mac.length === 0) throw new TsigFailure(errorNameOf(tsig.error))
    if (tsig.keyName !== this.#key.name || tsig.algorithm !== algorithmName(this.#key))
      throw new TsigFailure('BADKEY')
    checkMacLength(this.#key, tsig)
    const messages = [...this.#unsigned, coveredOctets(wire, message.tsig.start, tsig.originalId)]
    const mac = computeMac(this.#key, { prior: this.#prior, messages, tsig }, !this.#isFirst)
    if (!equal(mac, tsig.mac)) throw new TsigFailure('BADSIG')
    if (tsig.error !== 0) throw new TsigFailure(errorNameOf(tsig.error))
    if (Math.abs(now - tsig.time) > tsig.fudge) throw new TsigFailure('BADTIME')
    this.#prior = mac
    this.#isFirst = false
    this.#unsigned = []
  }

  /** Whether every message so far is covered by a signature: a transfer must end so. */
  get isComplete(): boolean {
    return !this.#isFirst && this.#unsigned.length === 0
  }
}

function errorNameOf(code: number): TsigFailure['reason'] {
  const names = Object.keys(tsigError) as TsigErrorName[]
  return names.find((name) => tsigError[name] === code) ?? 'unknown'
}

/** Whether the text names an algorithm that is supported, without the final dot. */
export function isTsigAlgorithm(text: string): text is TsigAlgorithm {
  return text in macLengths
}
