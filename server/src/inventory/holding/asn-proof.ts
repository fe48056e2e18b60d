// Verifies an ASN for a team. Reading uses only stored results; a refresh queries the registries outside of any
// transaction, and saves the results in one. The daily check does the same without a request.
import { asnProofReasonText } from '@pharos/contract/reason/asn-proof-reason'
import {
  asnProofMethods,
  asnProofScopes,
  type AsnProof as WireProof,
  type AsnProofMethod,
  type AsnVerification as Wire,
  type ProofStep,
} from '@pharos/contract/inventory/asn'
import { auditOf, writeAudit, type AuditEntry } from '../../db/audit.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import type { Asn } from '../../net/asn.ts'
import type { Prefix } from '../../net/prefix.ts'
import { fail } from '../../runtime/error.ts'
import type { Operation } from '../../operation/operation.ts'
import { RateLimiter } from '../../runtime/rate-limit.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import { parseHoldableAsn, presentRevocation, presentVerification, type AsnRules } from './asn.ts'
import type { HeldAsn } from './held-asn.ts'
import { findAsns } from './asn.store.ts'
import {
  runCheck,
  notConfigured,
  step,
  type AsnProofSources,
  type ProofSubject,
  type ProofResult,
} from './asn-proof-result.ts'
import { checkAutNum, instructAutNum } from './asn-proof-aut-num.ts'
import { checkDns, dnsPlaces, instructDns, type DnsPlace } from './asn-proof-dns.ts'
import { checkRoa, instructRoa } from './asn-proof-roa.ts'
import {
  isVerifiedElsewhere,
  listAsnProofs,
  listHeldPrefixes,
  lockAsn,
  saveAsnProofs,
  saveVerification,
} from './asn-proof.store.ts'
import type { AsnProof } from './asn-proof-result.ts'
import { asnTokens } from './asn-token.ts'
import {
  noteOf,
  proofAfter,
  nextVerification,
  type ProofResults,
  type VerificationChange,
} from './asn-verification.ts'

export type AsnProofDeps = AsnRules & {
  readonly postgres: Postgres
  readonly ring: KeyRing
  readonly sources: AsnProofSources
  readonly now: () => Date
  /** Called with an error of a check that is not an answer of a registry: an internal error, for the log. */
  readonly onCheckError: (error: unknown) => void
}

/** Limits refreshes on request in this process. Keys: team and ASN, and team. */
export type RefreshLimits = { readonly perAsn: RateLimiter; readonly perTeam: RateLimiter }

/** One a minute for each ASN of a team; a team has few ASNs, so the limit per team stops a search through many. */
export function createRefreshLimits(now?: () => number): RefreshLimits {
  return {
    perAsn: new RateLimiter({ perSecond: 1 / 60, burst: 1 }, now),
    perTeam: new RateLimiter({ perSecond: 1 / 60, burst: 30 }, now),
  }
}

export type VerifyAsnDeps = AsnProofDeps & { readonly refreshes: RefreshLimits }

/** The query of verifyAsn, as parsed by the contract. */
export type VerifyAsnQuery = { readonly method?: readonly AsnProofMethod[]; readonly refresh: boolean }

const checkTimeoutMs = 5_000
/** A short timeout: the answer is useful without the prefixes in the instructions. */
const placesTimeoutMs = 1_000

/** Returns the instructions and the state of each method. Throws `reserved_asn`, `scope_missing` and `rate_limited`. */
export async function verifyAsn(
  deps: VerifyAsnDeps,
  operation: Operation,
  number: number,
  { method, refresh }: VerifyAsnQuery,
): Promise<{ body: Wire }> {
  const asn = parseHoldableAsn(number, deps)
  const { teamId } = operation.actor
  const methods = method ? asnProofMethods.filter((one) => method.includes(one)) : asnProofMethods
  if (refresh) await refreshProofs(deps, operation, asn, methods)
  const [stored, subject] = await deps.postgres.inTeam(teamId, async (trx) => [
    await readStoredProofs(trx, teamId, asn),
    await readProofSubject(trx, deps, teamId, asn),
  ])
  const places = methods.includes('dns_txt') ? await findPlaces(deps, asn) : undefined
  return { body: present(deps, stored, subject, places, methods) }
}

async function refreshProofs(
  deps: VerifyAsnDeps,
  operation: Operation,
  asn: Asn,
  methods: readonly AsnProofMethod[],
): Promise<void> {
  const { actor } = operation
  if (actor.kind === 'token' && !actor.scopes.includes('ipam:write'))
    throw fail('scope_missing', 'refresh', { scope: 'ipam:write' })
  deps.refreshes.perAsn.take(`${actor.teamId} ${asn}`)
  deps.refreshes.perTeam.take(`${actor.teamId}`)
  const subject = await deps.postgres.inTeam(actor.teamId, (trx) =>
    readProofSubject(trx, deps, actor.teamId, asn),
  )
  const results = await checkMethods(deps, subject, methods, new AbortController().signal)
  await deps.postgres.inTeam(actor.teamId, (trx) =>
    saveProofResults(trx, actor.teamId, asn, results, deps.now(), auditOf(operation)),
  )
}

export async function readProofSubject(
  trx: Trx,
  { ring }: Pick<AsnProofDeps, 'ring'>,
  teamId: number,
  asn: Asn,
): Promise<ProofSubject> {
  return { asn, tokens: asnTokens(ring, teamId, asn), heldPrefixes: await listHeldPrefixes(trx, teamId) }
}

type Check = (sources: AsnProofSources, subject: ProofSubject, signal: AbortSignal) => Promise<ProofResult>

const checks: Record<AsnProofMethod, Check> = {
  aut_num: checkAutNum,
  dns_txt: checkDns,
  roa: async (sources, subject) => checkRoa(sources, subject),
  rdap_email: async () => notConfigured,
  peeringdb: async () => notConfigured,
}

/** Queries the registries concurrently, each for at most five seconds; rejects only if `signal` aborts. */
export async function checkMethods(
  { sources, onCheckError }: Pick<AsnProofDeps, 'sources' | 'onCheckError'>,
  subject: ProofSubject,
  methods: readonly AsnProofMethod[],
  signal: AbortSignal,
): Promise<ProofResults> {
  const running = methods.map(async (method) => {
    const check = (ended: AbortSignal) => checks[method](sources, subject, ended)
    return [method, await runCheck(checkTimeoutMs, signal, check, onCheckError)] as const
  })
  return new Map(await Promise.all(running))
}

/** Saves the results, audits the resulting change, and returns it. */
export async function saveProofResults(
  trx: Trx,
  teamId: number,
  asn: Asn,
  results: ProofResults,
  now: Date,
  by: Pick<AuditEntry, 'teamId' | 'actor'> & Partial<AuditEntry>,
): Promise<VerificationChange | undefined> {
  await lockAsn(trx, asn)
  const { held, proofs, conflict } = await readStoredProofs(trx, teamId, asn)
  const before = new Map(proofs.map((proof) => [proof.method, proof]))
  const after = [...results].map(([method, result]) =>
    proofAfter(before.get(method), method, result, held?.verifiedBy ?? null, now),
  )
  await saveAsnProofs(trx, teamId, asn, after)
  const change = nextVerification(held, results, conflict, now)
  if (!change) return undefined
  await saveVerification(trx, teamId, asn, change.after)
  if (change.kind === 'extend') return change
  await writeAudit(trx, {
    ...by,
    action: `asn.${change.kind}`,
    target: `asn:${asn}`,
    before: held ? stateOf(held) : undefined,
    after: change.after,
  })
  await wake(trx, 'validations')
  return change
}

const stateOf = ({ verified, verifiedBy, expires }: HeldAsn) => ({ verified, verifiedBy, expires })

type StoredProofs = {
  readonly asn: Asn
  readonly held: HeldAsn | undefined
  readonly proofs: readonly AsnProof[]
  /** Another team is verified for the ASN. */
  readonly conflict: boolean
}

async function readStoredProofs(trx: Trx, teamId: number, asn: Asn): Promise<StoredProofs> {
  const [held] = await findAsns(trx, teamId, [asn])
  const proofs = await listAsnProofs(trx, teamId, asn)
  return { asn, held, proofs, conflict: await isVerifiedElsewhere(trx, teamId, asn) }
}

/** Returns undefined if the prefixes are currently unknown. */
async function findPlaces({ sources }: AsnProofDeps, asn: Asn): Promise<readonly DnsPlace[] | undefined> {
  let prefixes: readonly Prefix[] | undefined
  const check = async (): Promise<ProofResult> => {
    prefixes = await sources.rpki?.originsOf(asn)
    return notConfigured
  }
  await runCheck(placesTimeoutMs, new AbortController().signal, check, () => {})
  return prefixes && dnsPlaces(prefixes)
}

function present(
  deps: VerifyAsnDeps,
  { asn, held, proofs, conflict }: StoredProofs,
  subject: ProofSubject,
  places: readonly DnsPlace[] | undefined,
  methods: readonly AsnProofMethod[],
): Wire {
  const byMethod = new Map(proofs.map((proof) => [proof.method, proof]))
  const object = byMethod.get('aut_num')?.evidence
  const rir = textOf(object?.['rir'])
  return {
    asn,
    // In a registry that accepts any registration, the object does not identify the holder.
    holder: rir === null ? null : textOf(object?.['holder']),
    rir,
    ...presentVerification(held, deps.now()),
    revoked: presentRevocation(held),
    // Only for a team with its own proof: anyone could otherwise find out other customers' ASNs.
    conflict: conflict && proofs.some(isProof),
    methods: methods.map((method) => {
      const isConfigured = configured[method](deps.sources)
      const proof = isConfigured ? byMethod.get(method) : undefined
      const steps = isConfigured ? instruct[method](subject, places) : [step(notConfigured.note)]
      return {
        method,
        proves: asnProofScopes[method],
        ...presentProof(proof, isConfigured, held),
        instructions: steps.flatMap(({ text, lines }) => [text, ...lines]).join('\n'),
        steps,
        token: isConfigured && hasToken.has(method) ? subject.tokens[0] : null,
      }
    }),
  }
}

const isProof = ({ method, state }: AsnProof): boolean =>
  state === 'valid' && asnProofScopes[method] === 'asn'

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const configured: Record<AsnProofMethod, (sources: AsnProofSources) => boolean> = {
  aut_num: ({ irr }) => irr !== undefined,
  dns_txt: ({ txt, rpki }) => txt !== undefined && rpki !== undefined,
  roa: ({ rpki }) => rpki !== undefined,
  rdap_email: () => false,
  peeringdb: () => false,
}

const hasToken: ReadonlySet<AsnProofMethod> = new Set(['aut_num', 'dns_txt'])

const instruct: Record<
  AsnProofMethod,
  (subject: ProofSubject, places: readonly DnsPlace[] | undefined) => ProofStep[]
> = {
  aut_num: instructAutNum,
  dns_txt: instructDns,
  roa: instructRoa,
  rdap_email: () => [step(notConfigured.note)],
  peeringdb: () => [step(notConfigured.note)],
}

const notChecked = {
  state: 'pending',
  reason: 'not_checked',
  attrs: {},
  note: asnProofReasonText('not_checked', {}),
  evidence: {},
} as const

function presentProof(
  proof: AsnProof | undefined,
  isConfigured: boolean,
  held: HeldAsn | undefined,
): Pick<WireProof, 'state' | 'reason' | 'attrs' | 'note' | 'evidence' | 'checked'> {
  if (!isConfigured) return { ...notConfigured, checked: null }
  if (!proof) return { ...notChecked, checked: null }
  const { state, reason, attrs, evidence, checked } = proof
  return { state, reason, attrs, note: noteOf(proof, held), evidence, checked: checked.toISOString() }
}
