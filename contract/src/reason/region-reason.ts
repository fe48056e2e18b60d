// Reasons why an announcement is not in its desired state in a region: a closed list of codes, each with attributes.
// Codes are stored and decide; the sentences are made here and nowhere else.

/** The sentence of each code. The server stores the attributes beside the code. */
const texts = {
  not_shown: () => 'The router does not show the route yet.',
  damped: ({ until }) =>
    `Enabled and disabled too often within an hour. The route is announced at ${String(until)}; withdrawals never wait.`,
  no_neighbor: () => 'The router holds the route, but none of its BGP sessions is established.',
  not_best: () =>
    'The router prefers the route of another network for the prefix, and its neighbors receive that one.',
  not_advertised: () => 'The router holds the route, but none of its BGP neighbors receives it.',
  router_unreadable: ({ since }) =>
    typeof since === 'string'
      ? `The router cannot be read since ${since}. The last known state is shown; nothing is withdrawn.`
      : 'A router of the region cannot be read. Nothing is withdrawn meanwhile.',
  refused: () => 'The router rejected the route.',
  withdrawal_refused: () => 'The router rejected the withdrawal.',
  withdrawal_held: () =>
    'Paused: the withdrawal needs approval by the provider. The route is still announced.',
  withdrawal_rejected: () => 'The provider rejected the withdrawal. The route is still announced.',
  withdrawal_sent: () => 'The withdrawal was sent, but the router still shows the route.',
  former_router: () =>
    'A router that the region no longer has may still announce the route. It is withdrawn there once the router answers.',
  change_held: () =>
    'Paused: a change of origin, next hop or communities needs approval by the provider. The route is announced as before.',
  invalid_row: ({ problem }) => `${rowProblemText(problem)} The routers are left unchanged.`,
} satisfies Record<string, (attrs: ReasonAttrs) => string>

export type ReasonAttrs = Readonly<Record<string, unknown>>
export type RegionReason = keyof typeof texts
export const regionReasons = Object.keys(texts) as [RegionReason, ...RegionReason[]]

/** Returns the sentence of a code for people. */
export function regionReasonText(reason: RegionReason, attrs: ReasonAttrs | null): string {
  const text: (attrs: ReasonAttrs) => string = texts[reason]
  return text(attrs ?? {})
}

/** Defects of a stored row that make the reconciler skip it. */
const problems = {
  other_region: 'The stored row belongs to another region.',
  prefix_invalid: 'The stored prefix is not valid.',
  default_route: 'A default route is never announced.',
  desired_unknown: 'The stored row has no valid desired state.',
  origin_invalid: 'The stored origin is not an AS number.',
  origin_unchecked: 'The origin is not the one for which the checks passed.',
  announcement_missing: 'The stored row names no announcement.',
  host_invalid: 'The stored black hole is not of a single host.',
  too_many_blackholes: 'More hosts are black-holed at the same time than the limits allow.',
  duplicate_prefix: 'More than one stored row names the prefix.',
} as const

export type RowProblem = keyof typeof problems

function rowProblemText(problem: unknown): string {
  return problems[problem as RowProblem] ?? 'The stored row is not valid.'
}
