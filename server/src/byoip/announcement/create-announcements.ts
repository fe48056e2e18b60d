// Creates announcements: all or none, with all errors and their locations, and a first result of every check. A dry run
// is the preflight: the same without storing, and it waits longer for the routing registries.
import type { Announcement as Wire, NewAnnouncement } from '@pharos/contract/byoip/announcement'
import type { ProblemError } from '@pharos/contract/problem'
import { auditOf, writeAudit } from '../../db/audit.ts'
import { runPreparedChange, type ChangeAnswer, type ChangeResult } from '../../db/run-change.ts'
import type { Postgres, Trx } from '../../db/postgres.ts'
import { wake } from '../../db/wake.ts'
import { findVerifiedAsns } from '../../inventory/holding/asn.ts'
import type { HeldAsn } from '../../inventory/holding/held-asn.ts'
import { errorAt, fail, failWith } from '../../runtime/error.ts'
import { covers, type Prefix } from '../../net/prefix.ts'
import { outsideLimitAt, type Limits } from '../../operation/limits.ts'
import { actorName, type Operation } from '../../operation/operation.ts'
import type { KeyRing } from '../../runtime/secrets.ts'
import { readAnnouncements } from './announcement.store.ts'
import {
  countTeamAnnouncements,
  insertAnnouncements,
  readClaims,
  readOpenSlugs,
} from './create-announcements.store.ts'
import { writeHistory } from './history.store.ts'
import type { Irr } from '../../registry/irr.ts'
import type { AuthorizationKind } from '@pharos/contract/byoip/announcement-checks'
import { evaluateAuthorization } from '../validation/authorization.ts'
import {
  evaluateAsn,
  evaluateIrr,
  evaluateOverlap,
  evaluateRpki,
  evaluateSize,
  isAuthorized,
  noLetter,
} from '../validation/check-rules.ts'
import { prefixTokens } from '../validation/prefix-token.ts'
import { overlapError, readNewAnnouncements, type Wanted } from './new-announcement.ts'
import {
  parseInclude,
  presentAnnouncement,
  shownEtag,
  type IncludedParts,
  type AnnouncementIncludeQuery,
} from './present-announcement.ts'
import type { Rpki } from '../../registry/rpki.ts'
import { clearanceOf, completeChecks, type Check, type CheckResult } from '../validation/validation.ts'
import { readVisibilityIn } from '../visibility/present-visibility.ts'
import { saveFirstChecks } from '../validation/validation.store.ts'

export type CreateDeps = {
  readonly postgres: Postgres
  readonly rpki: Pick<Rpki, 'judge'>
  readonly irr: Pick<Irr, 'judge'>
  readonly allowDocumentation: boolean
  readonly authorizationKinds: readonly AuthorizationKind[]
  /** For the tokens in the fixes. */
  readonly ring: KeyRing
  /** Maximum number of announcements per team. */
  readonly quota: number
  readonly now: () => Date
}

export type CreateBody = NewAnnouncement | { readonly announcements: readonly NewAnnouncement[] }
export type Created = { readonly results: Wire[]; readonly count: number }

/**
 * How long to wait for the routing registries. A preflight is about their answer; creating is about the stored announcement, so
 * a check without an answer by then is `pending`, and the validator queries it.
 */
const waitMs = { preflight: 3_000, create: 200 } as const

export async function createAnnouncements(
  deps: CreateDeps,
  operation: Operation,
  body: CreateBody,
  query: AnnouncementIncludeQuery = {},
): Promise<ChangeAnswer<Created>> {
  const items = 'announcements' in body ? body.announcements : [body]
  const { teamId } = operation.actor
  const regions = await readOpenSlugs(deps.postgres, teamId)
  const { allowDocumentation } = deps
  const read = readNewAnnouncements(items, !('announcements' in body), { allowDocumentation, regions })
  requireWithin(operation.actor.limits, read.wanted)
  const queryAll = () => queryIrr(deps, read.wanted, waitMs[operation.dryRun ? 'preflight' : 'create'])
  return runPreparedChange(deps.postgres, operation, queryAll, async (trx, irr) => {
    const checks = await requireCreatable(deps, trx, teamId, read, irr)
    return store(deps, trx, operation, read.wanted, checks, parseInclude(query.include))
  })
}

/** Throws `resource_limited` with every prefix outside of the prefixes of a limited token. */
function requireWithin(limits: Limits | null, wanted: readonly Wanted[]): void {
  if (limits === null) return
  const outside = wanted.filter(({ prefix }) => !limits.prefixes.some((one) => covers(one as Prefix, prefix)))
  if (outside.length === 0) return
  throw failWith(
    'resource_limited',
    outside.map(({ loc }) => outsideLimitAt([...loc, 'cidr'], limits.prefixes)),
  )
}

type Read = { readonly wanted: readonly Wanted[]; readonly errors: readonly ProblemError[] }

/**
 * Throws unless every announcement may be created; returns their checks. A prefix of another team is an error only for
 * a team that is authorized to announce it; for all others the check `overlap` waits for a proof.
 */
async function requireCreatable(
  deps: CreateDeps,
  trx: Trx,
  teamId: number,
  { wanted, errors }: Read,
  irr: ReadonlyMap<Wanted, CheckResult>,
): Promise<Check[][]> {
  const { quota, now } = deps
  const count = await countTeamAnnouncements(trx, teamId)
  const asns = await findVerifiedAsns(trx, teamId, [...new Set(wanted.map((one) => one.originAsn))], now())
  const prefixes = wanted.map(({ prefix }) => prefix)
  const claims = await readClaims(trx, teamId, prefixes)
  const overlapping = wanted.flatMap((one, at) => {
    const { own } = claims[at]!
    return own ? [overlapError(one, own.prefix, 'of the team', own.id)] : []
  })
  const unproven = wanted.filter(({ originAsn }) => !asns.has(originAsn)).map(asnError)
  const checks = wanted.map((one, at) =>
    checksOf(deps, teamId, one, { asn: asns.get(one.originAsn), irr: irr.get(one), ...claims[at]! }),
  )
  const claimed = wanted.filter((_, at) => isContested(checks[at]!)).map(claimError)
  const all = [...errors, ...overlapping, ...unproven]
  if (all.length > 0) throw failWith('invalid', [...all, ...claimed])
  if (claimed.length > 0) throw failWith('prefix_claimed', claimed)
  if (count + wanted.length > quota) {
    throw fail('quota_exceeded', 'announcements', { limit: quota, count })
  }
  return checks
}

const isContested = (checks: readonly Check[]): boolean =>
  checks.some(({ name, state }) => name === 'overlap' && state === 'invalid')

function asnError({ loc, originAsn }: Wanted): ProblemError {
  return errorAt([...loc, 'origin_asn'], 'asnUnverified', {
    verify: `/v3/inventory/asns/${originAsn}/verify`,
  })
}

function claimError({ loc }: Wanted): ProblemError {
  return errorAt([...loc, 'cidr'], 'prefixHeld')
}

async function queryIrr(
  { irr }: CreateDeps,
  wanted: readonly Wanted[],
  ms: number,
): Promise<Map<Wanted, CheckResult>> {
  const signal = AbortSignal.timeout(ms)
  const answers = await Promise.all(
    wanted.map(async (one): Promise<[Wanted, CheckResult] | undefined> => {
      const options = { signal, ...(one.asSet === null ? {} : { asSet: one.asSet }) }
      const verdict = await irr.judge(one.prefix, one.originAsn, options).catch(() => undefined)
      return verdict && [one, evaluateIrr(one, verdict)]
    }),
  )
  return new Map(answers.filter((entry) => entry !== undefined))
}

type Facts = {
  readonly asn: HeldAsn | undefined
  readonly irr: CheckResult | undefined
  readonly taken: boolean
}

function checksOf(deps: CreateDeps, teamId: number, wanted: Wanted, { asn, irr, taken }: Facts): Check[] {
  const now = deps.now()
  const rpki = evaluateRpki(wanted, deps.rpki.judge(wanted.prefix, wanted.originAsn))
  const asnResult = evaluateAsn(wanted.originAsn, asn ?? null, now)
  const authorization = {
    announcementId: null,
    target: wanted,
    tokens: prefixTokens(deps.ring, teamId, wanted.prefix),
    letter: noLetter,
    rpki,
    asn: asnResult,
    stored: {},
  }
  const loa = evaluateAuthorization(deps.authorizationKinds, authorization, undefined, now)
  const authorized = isAuthorized({ rpki: rpki.state, asn: asnResult.state, loa: loa.state })
  const results = {
    rpki,
    asn: asnResult,
    size: evaluateSize(wanted.prefix, now),
    overlap: evaluateOverlap(taken, authorized, now),
    loa,
    ...(irr ? { irr } : {}),
  }
  const known = Object.entries(results).map(([name, result]) => ({
    ...result,
    name: name as Check['name'],
  }))
  return Object.values(completeChecks(known))
}

async function store(
  { now }: CreateDeps,
  trx: Trx,
  operation: Operation,
  wanted: readonly Wanted[],
  checks: readonly (readonly Check[])[],
  include: IncludedParts,
): Promise<ChangeResult<Created>> {
  const { teamId } = operation.actor
  const ids = await insertAnnouncements(
    trx,
    teamId,
    wanted.map((one, at) => ({ ...one, clearance: clearanceOf(checks[at]!) })),
  )
  await saveFirstChecks(
    trx,
    teamId,
    ids.map((id, at) => ({ id, checks: checks[at]! })),
    // The validator queries unanswered checks immediately, and then at its own interval.
    now(),
  )
  const actor = actorName(operation.actor)
  await writeHistory(
    trx,
    ...ids.map((id) => ({ announcementId: id, teamId, kind: 'created' as const, actor })),
  )
  const shown = operation.dryRun ? { ...include, validations: true } : include
  const stored = await readAnnouncements(trx, teamId, ids)
  const visibility = await readVisibilityIn(trx, teamId, ids)
  const results = stored.map(({ announcement, checks: saved }) =>
    presentAnnouncement(announcement, shown, {
      checks: saved,
      visibility: visibility(announcement),
      now: now(),
    }),
  )
  const about = auditOf(operation)
  await writeAudit(
    trx,
    ...results.map(({ id, cidr, origin_asn, regions }) => ({
      ...about,
      action: 'announcement.create',
      target: `announcement:${id}`,
      after: { cidr, origin_asn, regions },
    })),
  )
  await wake(trx, 'validations')
  const body = { results, count: results.length }
  return results.length === 1 ? { body, etag: shownEtag(stored[0]!.announcement, results[0]!) } : { body }
}
