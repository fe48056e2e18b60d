// Why an announcement or a zone is not in its desired state, and who can act: a closed list of tags, each with its attributes. The
// sentences are made here and nowhere else.
import { Type, type Static } from 'typebox'
import { counted } from '../counted.ts'
import { Component, Enumeration, Time } from '../scalar.ts'
import { checkReasonText, type CheckReason } from './check-reason.ts'
import { dnssecReasonText } from './dnssec-reason.ts'
import { regionReasonText, type ReasonAttrs, type RegionReason } from './region-reason.ts'

/** Of a check: the reason of its state. Rows from before reasons had codes have a sentence only. */
const checkText = ({ reason, attrs, note }: ReasonAttrs): string =>
  reason ? checkReasonText(reason as CheckReason, (attrs ?? {}) as ReasonAttrs) : String(note)

const regionText = ({ region, reason, desired, ...attrs }: ReasonAttrs): string =>
  `${String(region)}: ${reason ? regionReasonText(reason as RegionReason, attrs) : desired ? 'Being announced.' : 'Being withdrawn.'}`

type UnexpectedRoute = { readonly cidr: string; readonly asn: number; readonly count: number }

type FailingAlias = { readonly name: string; readonly resolved: string | null }

const texts = {
  suspended: ({ by, reason }) =>
    by === 'validation'
      ? 'The provider suspended the announcement because a check has failed for too long. It resumes once all checks pass.'
      : `The provider suspended the announcement${reason ? `: ${String(reason)}` : '.'} Contact the provider.`,
  validation_lost: (attrs) =>
    `A check that had passed fails now: ${checkText(attrs)} Routes that are announced stay announced.`,
  validation_failed: checkText,
  validation_pending: checkText,
  validation_missing: checkText,
  validation_unavailable: checkText,
  ends_soon: ({ validation, days }) =>
    `The ${validation === 'loa' ? 'letter of authorization' : 'verification of the ASN'} ends in ${counted(days, 'day')}. Renew it.`,
  zombie: ({ count, total }) =>
    `${String(count)} of ${counted(total, 'route collector')} still have the route, although it was withdrawn. Other networks may still send traffic to it. Contact the provider.`,
  not_visible: ({ count, total }) =>
    `The prefix is announced, but only ${String(count)} of ${counted(total, 'route collector')} see it. Other networks may reject it: check its IRR and RPKI objects, and contact the provider.`,
  other_path: ({ count, total }) =>
    `No route collector sees the prefix through this provider: ${String(count)} of ${String(total)} see it with its origin, on other paths.`,
  unexpected_origin: ({ routes }) =>
    `Another network announces the prefix or a part of it: ${(routes as UnexpectedRoute[]).map(({ cidr, asn, count }) => `${cidr} by AS${asn}, seen by ${counted(count, 'route collector')}`).join('; ')}. If this was not arranged, contact the provider.`,
  region_withdrawn: regionText,
  region_announcing: regionText,
  region_announced: regionText,
  region_withdrawing: regionText,
  region_error: regionText,
  zone_updating: ({ serving, total }) =>
    total
      ? `The newest version is served by ${String(serving)} of ${counted(total, 'name server')}.`
      : 'The newest version is being published.',
  zone_servers_behind: ({ serving, total, servers }) =>
    `The newest version is served by ${String(serving)} of ${counted(total, 'name server')}; not by ${(servers as string[]).join(', ')}.`,
  zone_refused: ({ serving, total, servers, serial, sets }) => {
    const changed = (sets ?? []) as string[]
    const has = typeof serial === 'number' ? `keeps the version ${serial}` : 'has no version of the zone'
    const next = changed.length > 0 ? ` The first change that it lacks has ${changed.join(', ')}.` : ''
    return `${(servers as string[]).join(', ')} ${has}, although ${String(serving)} of ${counted(total, 'name server')} serve the newest.${next} Correct the record, or contact the provider, who has been told.`
  },
  zone_absent: ({ servers }) =>
    `${(servers as string[]).join(', ')} ${(servers as string[]).length === 1 ? 'is' : 'are'} in the NS records of the zone and ${(servers as string[]).length === 1 ? 'refuses' : 'refuse'} questions about it. Contact the provider, or remove the NS records.`,
  zone_dnssec_error: ({ reason }) =>
    `DNSSEC has failed: ${reason ? dnssecReasonText(String(reason)) : 'the reason is not known.'}`,
  zone_delegation_lost: ({ assigned, delegated }) =>
    `The parent no longer delegates to ${(assigned as string[]).join(', ')}${(delegated as string[]).length > 0 ? `, but to ${(delegated as string[]).join(', ')}` : ''}: resolvers do not ask these name servers. Check the name servers at the registrar.`,
  zone_not_delegated: ({ assigned }) =>
    `The parent does not delegate to the zone yet. Enter ${(assigned as string[]).join(', ')} at the registrar.`,
  zone_delegation_differs: ({ assigned, delegated }) =>
    `The parent delegates to ${(delegated as string[]).join(', ')}, and the zone has ${(assigned as string[]).join(', ')}. Enter the same name servers at the registrar.`,
  zone_deleting: () => 'The zone is deleted, and leaves the name servers within seconds.',
  zone_deletion_held: () =>
    'The zone is deleted and still served: more zones than usual would leave the name servers at once, so that the provider must approve it.',
  zone_claimed: () =>
    'Another customer of the provider has the name. The zone is served once the provider has cleared it.',
  zone_held: () => 'The change removes so many names at once that the provider must approve it.',
  zone_not_signed: ({ reason }) =>
    `The zone could not be signed: ${String(reason)}. The last signed version is served.`,
  zone_not_published: () => 'The zone could not be published. The last published version is served.',
  zone_not_transferred: ({ reason, record, note }) =>
    record
      ? `The primary servers have the record ${String(record)}, which name servers refuse: ${String(note)} The last copy is served until it expires.`
      : `The zone could not be transferred from its primary servers: ${String(reason)}. The last copy is served until it expires.`,
  zone_aliases_failing: (attrs) =>
    `The targets of ALIAS records are not resolved: ${aliasList(attrs)}. The last known addresses stay published.`,
  zone_aliases_unserved: (attrs) =>
    `The targets of ALIAS records have never been resolved: ${aliasList(attrs)}. No addresses are published for these names. Check that the targets have addresses.`,
  zone_expired: () =>
    'The primary servers did not answer for the time of SOA expire. The zone is no longer served.',
} satisfies Record<string, (attrs: ReasonAttrs) => string>

/** Lists the names in the attributes, and the number of further ones. */
function aliasList({ aliases, count }: ReasonAttrs): string {
  const shown = (aliases as FailingAlias[]).map(({ name, resolved }) =>
    resolved === null ? name : `${name} (last resolved ${resolved})`,
  )
  const more = Number(count) - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

export type StateMessageTag = keyof typeof texts
export const stateMessageTags = Object.keys(texts) as [StateMessageTag, ...StateMessageTag[]]

/** Returns the sentence of a tag for people. */
export function stateMessageText(tag: StateMessageTag, attrs: ReasonAttrs): string {
  const text: (attrs: ReasonAttrs) => string = texts[tag]
  return text(attrs)
}

export const StateMessage = Component('StateMessage', {
  severity: {
    ...Enumeration('StateMessageSeverity', ['info', 'warning', 'error']),
    description: 'how serious it is',
  },
  tag: { ...Enumeration('StateMessageTag', stateMessageTags), description: 'code of the message' },
  message: Type.String({
    description: 'the tag as a sentence: the deviation from the desired state, and who can act',
  }),
  attrs: Type.Record(Type.String(), Type.Unknown(), { description: 'attributes of the tag' }),
  timestamp: { ...Time, description: 'when it was found' },
})
export type StateMessage = Static<typeof StateMessage>
