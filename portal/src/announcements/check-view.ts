// A check as a row of the page: its state, who has to act, and the current evidence as a sentence. Pure.
import type { Validation } from '@pharos/contract/byoip/announcement-checks'
import type { Announcement } from '@pharos/contract/byoip/announcement'
import type { StateColor } from '../ui/status.tsx'
import { words } from './words.ts'

const { checks: texts } = words

export type Actor = 'you' | 'provider' | 'nobody'

export type CheckView = {
  readonly color: StateColor
  readonly stateText: string
  /** Undefined: the check passed, or will pass without any action. */
  readonly actor: Actor
  /** The object is named at the end of the sentence if there is one to create. */
  readonly text: string
}

type Target = Pick<Announcement, 'cidr' | 'origin_asn' | 'prefixlen'>

/** A letter that was sent is with the provider, also if other proofs would do. */
const isInReview = ({ reason, proofs = [] }: Validation): boolean =>
  reason === 'letter_pending' || proofs.some((proof) => proof.reason === 'letter_pending')

const ofProvider: ReadonlySet<unknown> = new Set(['asn_revoked', 'prefix_contested'])

/** Returns who has to act for the check to pass; nobody if it passed or is repeated automatically. */
export function actorOf(check: Validation): Actor {
  const { name, state, reason } = check
  if (state === 'valid') return 'nobody'
  if (name === 'loa' && isInReview(check)) return 'provider'
  if (ofProvider.has(reason)) return 'provider'
  return state === 'pending' || state === 'unavailable' ? 'nobody' : 'you'
}

export function viewOf(check: Validation, target: Target): CheckView {
  const actor = actorOf(check)
  const { state, note } = check
  const shown = { actor, text: sentenceOf(check, target) ?? note }
  if (state === 'valid') return { ...shown, color: 'ok', stateText: texts.states.passed }
  if (actor === 'provider')
    return {
      ...shown,
      color: check.name === 'loa' ? 'info' : 'bad',
      stateText: check.name === 'loa' ? texts.states.waiting : texts.states.action,
    }
  if (actor === 'nobody') return { ...shown, color: 'idle', stateText: texts.states.running }
  return { ...shown, color: 'warn', stateText: texts.states.action }
}

/** Returns the sentence of the evidence; undefined if the API's sentence is more precise. */
function sentenceOf(check: Validation, target: Target): string | undefined {
  const { name, reason } = check
  // The provider vouches, or a registry does not answer: the sentence contains both.
  if (reason === null || reason === 'vouched' || check.attrs['unanswered'] !== undefined) return undefined
  if (name === 'irr') return routeSentence(check, target)
  if (name === 'rpki') return roaSentence(check, target)
  if (reason === 'asn_unverified') return texts.asn.unverified(target.origin_asn)
  if (reason === 'asn_expired') return texts.asn.expired(target.origin_asn)
  if (reason === 'letter_missing') return texts.letter.missing
  return undefined
}

type RouteObject = { readonly prefix: string; readonly origin: number; readonly source: string }
type Vrp = { readonly prefix: string; readonly asn: number; readonly max_length: number }

/** Objects named in a sentence. */
const shownMost = 3

const listOf = <Item>(value: unknown): readonly Item[] => (Array.isArray(value) ? (value as Item[]) : [])

const joined = (parts: readonly string[]): string => {
  const shown = [...new Set(parts)]
  return `${shown.slice(0, shownMost).join(', ')}${shown.length > shownMost ? ', …' : ''}`
}

/** Returns `route` or `route6`. */
const routeKind = ({ cidr }: Target): string => (cidr.includes(':') ? 'route6' : 'route')

function routeSentence({ state, evidence }: Validation, target: Target): string | undefined {
  const objects = listOf<RouteObject>(evidence['objects'])
  const member = evidence['member'] as { asn: number; as_set: string } | undefined
  const kind = routeKind(target)
  if (state === 'valid' && member === undefined) {
    const exact = objects.filter(
      ({ prefix, origin }) => prefix === target.cidr && origin === target.origin_asn,
    )
    const sources = joined(exact.map(({ source }) => source))
    return texts.route.valid(kind, target.origin_asn, sources)
  }
  if (state === 'missing') return texts.route.missing(kind)
  if ((state === 'mismatch_asn' || state === 'mismatch_length') && objects.length > 0)
    return texts.route.other(
      kind,
      joined(objects.map(({ prefix, origin, source }) => texts.route.found(prefix, origin, source))),
    )
  return undefined
}

function roaSentence({ state, evidence }: Validation, target: Target): string | undefined {
  const roas = listOf<Vrp>(evidence['vrps'])
  const own = roas.find(({ asn }) => asn === target.origin_asn)
  if (state === 'valid') {
    const fits = roas.find(
      ({ asn, max_length: most }) => asn === target.origin_asn && most >= target.prefixlen,
    )
    return fits && texts.roa.valid(fits.prefix, fits.asn, fits.max_length)
  }
  if (state === 'missing') return texts.roa.missing
  if (state === 'mismatch_length' && own)
    return texts.roa.length(own.prefix, own.asn, own.max_length, target.prefixlen)
  if (state === 'mismatch_asn' && roas.length > 0)
    return texts.roa.other(joined(roas.map(({ prefix, asn }) => texts.roa.found(prefix, asn))))
  return undefined
}

/** Returns the checks that have not passed, by who has to act. */
export function openChecks(checks: readonly Validation[]): Readonly<Record<Actor, readonly Validation[]>> {
  const open = checks.filter(({ state }) => state !== 'valid')
  const of = (actor: Actor) => open.filter((check) => actorOf(check) === actor)
  return { you: of('you'), provider: of('provider'), nobody: of('nobody') }
}

/** Checks with an action first, then checks that wait, then passed ones; otherwise the order of the API. */
const order: readonly StateColor[] = ['bad', 'warn', 'info', 'idle', 'ok']
export const byUrgency = <Row extends { readonly view: CheckView }>(rows: readonly Row[]): Row[] =>
  rows.toSorted((a, b) => order.indexOf(a.view.color) - order.indexOf(b.view.color))

/** Returns `route object, ROA`. */
export const namesOf = (checks: readonly Validation[]): string =>
  checks.map(({ name }) => texts.short[name] ?? name).join(', ')
