// Sign-ins under way. A flow is deleted before its answer is read, so that it works once; then the cookie of the browser is compared, so that nobody is
// signed in by an answer that another browser has fetched.
import { hash, randomBytes } from 'node:crypto'
import type { Db, Trx } from '../db/postgres.ts'
import { mac, open, seal, verifyMac, type KeyRing } from '../runtime/secrets.ts'
import {
  findSamlProvider,
  findWaitingFlow,
  insertFlow,
  replaceFlowContent,
  takeFlowRow,
  type FlowKind,
} from './flow.store.ts'
import { SignInFailure, type Assertion, type FlowSecrets } from './identity-provider.ts'

/** What is stored sealed, by the kind of flow. */
export type FlowContents = {
  readonly sign_in: {
    readonly secrets: FlowSecrets
    readonly returnTo: string | null
    /** The session that gets the proof. */
    readonly sessionId: string | null
    readonly samlResponse?: string
  }
  /** Of staff, with the identity provider of the platform file. */
  readonly staff: FlowContents['sign_in']
  readonly test: { readonly secrets: FlowSecrets; readonly userId: number; readonly samlResponse?: string }
  /** The assertion is verified and waits for the second factor of the account. */
  readonly factor: {
    readonly assertion: Assertion
    readonly returnTo: string | null
    readonly sessionId: string | null
  }
  /** Waits for the owner of the mailbox. */
  readonly link: { readonly subject: string; readonly email: string; readonly userId: number }
}

const lifetimeMinutes: Readonly<Record<FlowKind, number>> = {
  sign_in: 10,
  test: 10,
  factor: 5,
  link: 24 * 60,
  staff: 10,
}

export const linkHours = lifetimeMinutes.link / 60

export const createState = (): string => randomBytes(32).toString('base64url')

const hashOf = (state: string): Buffer => hash('sha256', state, 'buffer')
/** As PostgreSQL writes the key of the row. */
const contextOf = (stateHash: Buffer): string => `\\x${stateHash.toString('hex')}`

export type NewFlow<K extends FlowKind> = {
  readonly kind: K
  readonly state: string
  readonly providerId: number | null
  readonly content: FlowContents[K]
  /** The cookie of the browser; null for the link of a mail. */
  readonly cookie: string | null
}

export async function saveFlow<K extends FlowKind>(
  db: Db | Trx,
  ring: KeyRing,
  { kind, state, providerId, content, cookie }: NewFlow<K>,
): Promise<void> {
  const stateHash = hashOf(state)
  await insertFlow(db, {
    stateHash,
    providerId,
    kind,
    cookieMac: cookie === null ? null : mac(ring, 'sign-in-flow', cookie),
    sealed: seal(ring, 'sign-in-flow', Buffer.from(JSON.stringify(content)), contextOf(stateHash)),
    minutes: lifetimeMinutes[kind],
  })
}

export type TakenFlow = {
  [K in FlowKind]: { readonly kind: K; readonly providerId: number | null; readonly content: FlowContents[K] }
}[FlowKind]

/** A provider of SAML, and whether a sign-in with it is under way; undefined for any other key. */
export const findAwaited = async (db: Db, key: string) =>
  /^[a-z2-7]{12}$/.test(key) ? findSamlProvider(db, key) : undefined

/** Stores the answer of SAML in a flow that waits for it, once. A flow that is unknown or has an answer stays as it is. */
export async function saveSamlResponse(
  db: Db,
  ring: KeyRing,
  providerId: number,
  state: string,
  samlResponse: string,
): Promise<boolean> {
  const stateHash = hashOf(state)
  const former = await findWaitingFlow(db, providerId, stateHash)
  if (!former) return false
  const context = contextOf(stateHash)
  const content = JSON.parse(open(ring, 'sign-in-flow', former, context).toString()) as object
  if (!('samlResponse' in content)) {
    const sealed = seal(
      ring,
      'sign-in-flow',
      Buffer.from(JSON.stringify({ ...content, samlResponse })),
      context,
    )
    await replaceFlowContent(db, stateHash, former, sealed)
  }
  return true
}

/** Deletes the flow and returns it. Throws SignInFailure if it is unknown, expired, or was started in another browser. */
export async function takeFlow(
  db: Db | Trx,
  ring: KeyRing,
  state: string,
  cookie: string | null,
): Promise<TakenFlow> {
  const stateHash = hashOf(state)
  const row = await takeFlowRow(db, stateHash)
  if (!row || row.is_expired) throw new SignInFailure('expired')
  if (row.cookie_mac !== null && !verifyMac(ring, 'sign-in-flow', cookie ?? '', row.cookie_mac))
    throw new SignInFailure('wrong_browser')
  const content = open(ring, 'sign-in-flow', row.content_sealed, contextOf(stateHash)).toString()
  return { kind: row.kind, providerId: row.provider_id, content: JSON.parse(content) } as TakenFlow
}
