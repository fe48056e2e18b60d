// Why changes wait for the approval of the provider's staff: codes of each area with their sentences.
import { counted } from '../counted.ts'

export const approvalAreas = ['routes', 'dns', 'shield', 'platform'] as const
export type ApprovalAreaName = (typeof approvalAreas)[number]

type Attrs = Readonly<Record<string, unknown>>

const n = (value: unknown): string => String(value)

const texts = {
  routes: {
    too_many_withdrawals: ({ max, team_max, minutes, recent }) =>
      `More withdrawals than allowed: at most ${n(max)} prefixes of the region and ${n(team_max)} of one team in ` +
      `${n(minutes)} minutes; ${counted(recent, 'was', 'were')} withdrawn before.`,
    too_many_changes: ({ max }) =>
      `The origin, next hop or communities of more than ${n(max)} routes would change at once.`,
    reserved_communities: ({ communities }) =>
      `Routes would get reserved communities, with which neighbors may keep, filter or discard them: ` +
      `${(communities as readonly string[]).join(', ')}.`,
    unexplained_routes: ({ routes }) => `The database has no row for ${counted(routes, 'route')}.`,
    invalid_rows: ({ invalid, total, announcement_id, cidr }) =>
      `${n(invalid)} of ${counted(total, 'stored row')} ${invalid === 1 ? 'is' : 'are'} not valid, for example ${announcement_id === null ? `the black hole of ${n(cidr)}` : `announcement ${n(announcement_id)} (${n(cidr)})`}.`,
    restored: ({ routes }) =>
      `The database was restored, and ${counted(routes, 'route differs', 'routes differ')} from it.`,
    no_rows: ({ routes }) =>
      `The database has no row for the region, but its routers have ${counted(routes, 'route')}.`,
  },
  dns: {
    unexplained_removals: () => 'No version of the zone itemises these removals.',
    apex_removed: () =>
      'The SOA or NS records of the zone itself would be removed, which is never published. Restore them in the zone, for example with a rollback.',
    many_removals: () => 'More zones than usual would leave the name servers within ten minutes.',
    catalog_empty: () => 'The last zones would leave the name servers.',
    transfer_shrinks: () => 'The primary server sends less than half of the names of the zone.',
  },
  shield: {
    whole_prefix: ({ prefix }) =>
      `The list of ${n(prefix)} has a rule that drops or limits everything that no rule before it allows.`,
    many_rules: ({ prefix, count, max }) =>
      `The team has ${n(count)} new rules within ten minutes, the list of ${n(prefix)} among them; more than ${n(max)} need approval.`,
    plan_differs: ({ prefix }) =>
      `The rules planned for ${n(prefix)} are not those of its newest version. They are never applied; this is a defect of Pharos.`,
    unexplained_removals: ({ count, rules }) =>
      `The scrubber has lists of ${counted(count, 'prefix', 'prefixes')} with ${counted(rules, 'rule')} for which no version of a list says that they are empty.`,
    no_lists: ({ count, rules }) =>
      `The database has no list at all, and the scrubber has lists of ${counted(count, 'prefix', 'prefixes')} with ${counted(rules, 'rule')}.`,
    former_holders: ({ count }) =>
      `The teams of ${n(count)} lists no longer hold their prefixes, more than usual at once. Their rules stay until this is approved.`,
  },
  platform: {
    many_deletions: ({ source, deletions }) =>
      `The import from ${n(source)} would delete ${(
        deletions as readonly { readonly count: number; readonly noun: string; readonly max: number }[]
      )
        .map(({ count, noun, max }) => `${count} ${noun} (at most ${max} without approval)`)
        .join(
          ', ',
        )}. Nothing is imported meanwhile. Check ${n(source)} and the permissions of its token first: objects that the token cannot see look deleted.`,
  },
} satisfies Record<ApprovalAreaName, Record<string, (attrs: Attrs) => string>>

type Texts = typeof texts
export type ReasonOf<Area extends ApprovalAreaName> = Extract<keyof Texts[Area], string>
/** Two areas may share a code, each with its own sentence. */
export type ApprovalReason = { [Area in ApprovalAreaName]: ReasonOf<Area> }[ApprovalAreaName]

export const reasonsOf = (area: ApprovalAreaName): readonly ApprovalReason[] =>
  Object.keys(texts[area]) as ApprovalReason[]
export const approvalReasons = [...new Set(approvalAreas.flatMap(reasonsOf))] as [
  ApprovalReason,
  ...ApprovalReason[],
]

/** One reason, with its attributes. */
export type ApprovalFinding<Reason extends ApprovalReason = ApprovalReason> = {
  readonly reason: Reason
  readonly attrs: Attrs
}

/** Changes with any of these reasons can be rejected, never approved. */
export const neverApproved: ReadonlySet<ApprovalReason> = new Set<ApprovalReason>([
  'apex_removed',
  'plan_differs',
])

/** Returns the sentences of the findings. */
export function approvalDetail(area: ApprovalAreaName, findings: readonly ApprovalFinding[]): string {
  const ofArea: Readonly<Partial<Record<ApprovalReason, (attrs: Attrs) => string>>> = texts[area]
  return findings.map(({ reason, attrs }) => ofArea[reason]?.(attrs) ?? reason).join(' ')
}
