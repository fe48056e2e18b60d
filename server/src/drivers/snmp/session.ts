// Requests to one device, one at a time: tries with fresh request ids, errors as DriverError, round trip and loss. The npm package
// net-snmp encodes, decodes and encrypts; its walks, retries and error events are not used. Errors contain no credential.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Session, Varbind } from 'net-snmp'
import { unlessAborted } from '../../runtime/abort.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import { withOtherKeyExtension, type SnmpCredential } from './credential.ts'
import { openSession, type OpenSnmpSession, type SessionOptions } from './open-session.ts'
import { classify, refusal, driverErrorOf, type SnmpOutcome } from './outcome.ts'

export type SnmpResponse<T> = {
  readonly value: T
  /** Milliseconds since 1970, of the try that was answered. */
  readonly sentAt: number
  readonly receivedAt: number
}

/** Scalars, then the repeated objects: one list for each OID of the request. */
export type BulkAnswer = {
  readonly scalars: readonly Varbind[]
  readonly columns: readonly (readonly Varbind[])[]
}

/** The device cannot put the answer into one message: ask for less. */
export class TooBigError extends Error {
  override readonly name = 'TooBigError'
}

type Send<T> = (session: Session, done: (error: Error | null, value?: T) => void) => void

/** After ECONNREFUSED: an agent that restarts is back soon. */
const refusedPauseMs = 250
const sysUpTime = '1.3.6.1.2.1.1.3.0'

export class SnmpSession {
  readonly #options: SessionOptions
  #isClosed = false
  #open: OpenSnmpSession | undefined
  /** Whether the device has answered since the session was opened: then its silence is not a wrong credential. */
  #hasAnswered = false
  /** Ends with the last request; undefined without a running request. */
  #lastRequest: Promise<void> | undefined
  #answers = 0
  #tries = 0
  #lost = 0
  #roundTrips = 0
  #roundTripMs = 0

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** Answers since the session was created. */
  get answers(): number {
    return this.#answers
  }

  get(oids: readonly string[], signal: AbortSignal): Promise<SnmpResponse<readonly Varbind[]>> {
    return this.#request((session, done) => session.get(oids, done), signal)
  }

  async getBulk(
    oids: readonly string[],
    nonRepeaters: number,
    maxRepetitions: number,
    signal: AbortSignal,
  ): Promise<SnmpResponse<BulkAnswer>> {
    const send: Send<(Varbind | Varbind[])[]> = (session, done) =>
      session.getBulk(oids, nonRepeaters, maxRepetitions, done)
    const answer = await this.#request(send, signal)
    const scalars = answer.value.slice(0, nonRepeaters) as Varbind[]
    return { ...answer, value: { scalars, columns: answer.value.slice(nonRepeaters) as Varbind[][] } }
  }

  /** Mean round trip in milliseconds and lost tries in percent, since the last call; null without requests. */
  takeFigures(): { readonly latencyMs: number | null; readonly lossPercent: number | null } {
    const latencyMs = this.#roundTrips === 0 ? null : this.#roundTripMs / this.#roundTrips
    const lossPercent = this.#tries === 0 ? null : (100 * this.#lost) / this.#tries
    this.#tries = this.#lost = this.#roundTrips = this.#roundTripMs = 0
    return { latencyMs, lossPercent }
  }

  /** Later requests reject. Running requests end with their signal, which the caller aborts before. */
  close(): void {
    this.#isClosed = true
    this.#reset()
  }

  async #request<T>(send: Send<T>, signal: AbortSignal): Promise<SnmpResponse<T>> {
    const before = this.#lastRequest
    const turn = Promise.withResolvers<void>()
    this.#lastRequest = turn.promise
    let isFirst = before === undefined
    try {
      if (before) await unlessAborted(signal, before)
      isFirst = true
      return await this.#tryAll(send, signal)
    } finally {
      // If the request was aborted in the queue, the next one still waits for earlier ones.
      if (!isFirst) void before!.then(turn.resolve)
      else turn.resolve()
      if (isFirst && this.#lastRequest === turn.promise) this.#lastRequest = undefined
    }
  }

  async #tryAll<T>(send: Send<T>, signal: AbortSignal): Promise<SnmpResponse<T>> {
    let outcome: SnmpOutcome<T> = { kind: 'silent', dropped: 0 }
    let hasAgent: Promise<boolean> | undefined
    for (let left = this.#options.tries; left > 0; left--) {
      if (left === 1 && this.#mayBeWrongCommunity(outcome)) hasAgent = this.#answersDiscovery(signal)
      outcome = await this.#try(send, signal)
      if (outcome.kind === 'answered') return outcome
      if (outcome.kind === 'too_big') throw new TooBigError()
      const refused = driverErrorOf(outcome)
      if (refused) throw refused
      if (outcome.kind === 'unreachable' && left > 1)
        await sleep(Math.min(refusedPauseMs, this.#options.timeoutMs), undefined, { signal })
      if (outcome.kind === 'unsynchronised') this.#reset()
    }
    if (this.#mayBeWrongCommunity(outcome) && (await hasAgent)) {
      this.#reset()
      throw refusal(
        'community',
        'The device answers SNMPv3 and no request with the community: it is wrong, or not allowed from here.',
      )
    }
    throw await this.#failure(outcome, signal)
  }

  /** An agent does not answer a community that it does not know. */
  #mayBeWrongCommunity({ kind }: SnmpOutcome<unknown>): boolean {
    return kind === 'silent' && this.#options.credential.kind === 'v2c' && !this.#hasAnswered
  }

  /** Every SNMPv3 agent answers discovery for any user. Runs beside the last try, so that it takes no longer. */
  async #answersDiscovery(signal: AbortSignal): Promise<boolean> {
    const nobody = { kind: 'v3', user: 'nobody', auth: null, authPassword: '', privacy: null } as const
    const outcome = await this.#askWith({ ...nobody, privacyPassword: '' }, signal).catch(() => undefined)
    return outcome?.kind === 'answered' || outcome?.kind === 'refused' || outcome?.kind === 'unsynchronised'
  }

  async #try<T>(send: Send<T>, signal: AbortSignal): Promise<SnmpOutcome<T>> {
    signal.throwIfAborted()
    try {
      this.#open ??= await openSession(this.#options, this.#options.credential)
    } catch (error) {
      return classify(error as Error, 0)
    }
    if (this.#isClosed) this.#reset()
    if (this.#isClosed) throw new DriverError('unreachable', 'The device source is closed.')
    signal.throwIfAborted()
    const outcome = await exchange(this.#open, send, signal)
    this.#tries++
    if (outcome.kind === 'silent' || outcome.kind === 'unreachable') this.#lost++
    if (outcome.kind === 'answered') {
      this.#hasAnswered = true
      this.#answers++
      this.#roundTrips++
      this.#roundTripMs += outcome.roundTripMs
    }
    return outcome
  }

  /** After the last try. The next request starts with a new session: the engine of the device may be another one. */
  async #failure<T>(outcome: SnmpOutcome<T>, signal: AbortSignal): Promise<Error> {
    const maybeRefused = outcome.kind === 'silent' && !this.#hasAnswered && this.#open?.knowsEngine()
    this.#reset()
    const refused = maybeRefused ? await this.#findWrongPart(signal) : undefined
    if (refused) return refused
    const where = `${this.#options.address} port ${this.#options.port}`
    if (outcome.kind === 'unreachable')
      return new DriverError('unreachable', `No SNMP agent at ${where}: ${outcome.code}.`)
    if (outcome.kind === 'silent' && outcome.dropped === 0)
      return new DriverError('unreachable', `No answer from ${where}.`)
    const reason = outcome.kind === 'invalid' ? outcome.reason : 'its answers are not valid messages'
    return new DriverError('protocol', `The answer of ${where} cannot be used: ${reason}.`)
  }

  /**
   * Devices do not answer if they cannot decrypt. If the device answers discovery but not encrypted requests: tries the
   * other key extension, then no privacy.
   */
  async #findWrongPart(signal: AbortSignal): Promise<DriverError | undefined> {
    const { credential } = this.#options
    if (credential.kind !== 'v3' || credential.privacy === null) return undefined
    const other = withOtherKeyExtension(credential)
    if (other && (await this.#askWith(other, signal)).kind === 'answered')
      return refusal('privacy', `The device uses ${other.privacy}.`)
    const outcome = await this.#askWith({ ...credential, privacy: null }, signal)
    if (outcome.kind === 'silent' || outcome.kind === 'unreachable') return onlyDiscovered(this.#options)
    // A user that must encrypt is refused access, or the security level: then the rest of the credential is right.
    const isKnown = outcome.kind !== 'refused' || outcome.part === 'access' || outcome.part === 'privacy'
    return isKnown
      ? refusal('privacyPassword', 'The privacy password or protocol is wrong.')
      : driverErrorOf(outcome)
  }

  async #askWith(credential: SnmpCredential, signal: AbortSignal): Promise<SnmpOutcome<unknown>> {
    const open = await openSession(this.#options, credential)
    try {
      return await exchange(open, (session, done) => session.get([sysUpTime], done), signal)
    } finally {
      open.close()
    }
  }

  #reset(): void {
    this.#open?.close()
    this.#open = undefined
    this.#hasAnswered = false
  }
}

/** No answer even without encryption: the device drops requests that a user may not send, or the host is gone. */
const onlyDiscovered = ({ address, port }: SessionOptions): DriverError =>
  new DriverError(
    'unreachable',
    `${address} port ${port} answers the discovery of SNMPv3, and no request of the user: check the privacy password and protocol.`,
  )

/** Sends one request and waits for its end. Rejects with the signal's reason. */
async function exchange<T>(
  open: OpenSnmpSession,
  send: Send<T>,
  signal: AbortSignal,
): Promise<SnmpOutcome<T>> {
  const { promise, resolve, reject } = Promise.withResolvers<SnmpOutcome<T>>()
  const cancel = () => open.session.cancelRequests(new Error('cancelled'))
  const onAbort = () => {
    reject(signal.reason as Error)
    cancel()
  }
  signal.addEventListener('abort', onAbort, { once: true })
  const droppedBefore = open.dropped()
  open.onFailure = (error) => {
    resolve(classify(error, open.dropped() - droppedBefore))
    cancel()
  }
  try {
    send(open.session, (error, value) => {
      const receivedAt = Date.now()
      if (error) resolve(classify(error, open.dropped() - droppedBefore))
      else resolve({ kind: 'answered', value: value as T, ...open.roundTrip(receivedAt) })
    })
    return await promise
  } finally {
    signal.removeEventListener('abort', onAbort)
    open.onFailure = () => undefined
  }
}
