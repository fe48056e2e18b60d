// Receives deliveries of detectors: checks the credential, stores the body unchanged, responds. The body is not parsed
// here: an unreadable delivery is kept too, because it may be the only report of an attack and the normaliser may be
// wrong.
import { createHash, randomUUID } from 'node:crypto'
import type { Postgres } from '../../db/postgres.ts'
import type { ChangeAnswer } from '../../db/run-change.ts'
import { wake } from '../../db/wake.ts'
import { fail } from '../../runtime/error.ts'
import { equalBytes, mac, verifyMac, type KeyRing } from '../../runtime/secrets.ts'
import { insertDelivery } from './delivery.store.ts'
import { findSourceSecret } from './source.store.ts'

export { insertDelivery } from './delivery.store.ts'

export type EventDeliveryDeps = { readonly postgres: Postgres; readonly keys: KeyRing }

/** The credential of a detector for its source. */
export type SourceCredential = {
  readonly sourceKey: string
  readonly authorization: string | undefined
  /** `?token=`; used only without an Authorization header. */
  readonly token: string | undefined
}

export type DeliveryRequest = SourceCredential & {
  /** `Idempotency-Key`, or `webhook-id` of Standard Webhooks; without one, every delivery is new. */
  readonly deliveryId: string | undefined
  readonly contentType: string | undefined
  readonly body: Buffer
}

/**
 * Stores a delivery and wakes the loop that processes it. A repeated delivery id gets the same response and is not
 * stored again; with another body it throws `idempotency_mismatch`. An unknown source and a wrong secret are the same
 * `unauthenticated`.
 */
export async function receiveDelivery(
  { postgres, keys }: EventDeliveryDeps,
  request: DeliveryRequest,
): Promise<ChangeAnswer<{ delivery_id: string }>> {
  await checkSource(postgres, keys, request)
  const deliveryId = deliveryIdOf(request.deliveryId)
  const outcome = await postgres.front.transaction().execute(async (trx) => {
    const inserted = await insertDelivery(trx, {
      sourceKey: request.sourceKey,
      deliveryId,
      contentType: request.contentType?.slice(0, 200) ?? null,
      body: request.body,
    })
    if (inserted === 'inserted') await wake(trx, 'deliveries')
    return inserted
  })
  if (outcome === 'another') throw fail('idempotency_mismatch', 'delivery')
  return { body: { delivery_id: deliveryId }, ...(outcome === 'repeated' && { replayed: true }) }
}

/** Throws `unauthenticated` unless the request has the secret of its source. */
export async function checkSource(
  postgres: Postgres,
  keys: KeyRing,
  request: SourceCredential,
): Promise<void> {
  const { authorization, token, sourceKey } = request
  const secret = authorization === undefined ? token : parseSourceCredential(authorization)
  const stored = sourceKey.includes('\0') ? undefined : await findSourceSecret(postgres.front, sourceKey)
  if (isSourceSecret(keys, secret ?? '', stored) && secret) return
  throw fail('unauthenticated', 'source')
}

const deliveryIdMax = 200

/**
 * A delivery is never rejected for its id: an id that is too long, contains other characters or cannot be a part of a path is replaced
 * by its hash.
 */
function deliveryIdOf(given: string | undefined): string {
  if (given === undefined || given === '') return randomUUID()
  if (given.length <= deliveryIdMax && /^(?!\.\.?$)[\x20-\x7e]+$/.test(given)) return given
  return `sha256:${createHash('sha256').update(given).digest('hex')}`
}

/** The stored MAC of a source's secret: `sources.secret_mac`. */
export function sourceSecretMac(keys: KeyRing, secret: string): Buffer {
  return mac(keys, 'source-secret', secret)
}

const noMac = Buffer.alloc(32)

/** Takes the same time for an unknown source as for a wrong secret. */
function isSourceSecret(keys: KeyRing, secret: string, stored: Buffer | undefined): boolean {
  const isRight = verifyMac(keys, 'source-secret', secret, stored ?? noMac)
  return isRight && stored !== undefined && !equalBytes(stored, noMac)
}

/** Parses `Token <secret>`, or `Basic` with the secret as the password and any user name; undefined otherwise. */
function parseSourceCredential(authorization: string): string | undefined {
  const match = /^(token|basic) +([\x21-\x7e][\x20-\x7e]{0,999})$/i.exec(authorization)
  if (!match) return undefined
  if (match[1]!.toLowerCase() === 'token') return match[2]
  const pair = Buffer.from(match[2]!, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : pair.slice(colon + 1)
}
