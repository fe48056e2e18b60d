// Selects the changes of visibility that are reported to the team: a zombie, routes of other networks, and an
// announcement that is not visible, or not visible through the provider. Pure. Missing data neither start nor end a
// warning.
import type { SeenRoute } from '@pharos/contract/byoip/visibility'
import type { NewMessage } from '../../outbox/outbox.ts'
import type { Prefix } from '../../net/prefix.ts'
import { isNotVisible, isOnOtherPath, unexpectedRoutes, type Summary } from './visibility.ts'

/** The conditions of which the team was last notified. */
export type Notified = {
  readonly zombie: boolean
  readonly routes: readonly SeenRoute[]
  readonly notVisible: boolean
  readonly otherPath: boolean
}

export type NotifiedTarget = {
  readonly id: number
  readonly teamId: number
  readonly prefix: Prefix
  readonly originAsn: number
  readonly notified: Notified
}

export type VisibilityReport = {
  readonly notified: Notified
  readonly messages: readonly NewMessage[]
}

/** Returns the messages about an announcement, and the state that its team is then notified of. */
export function visibilityMessages(target: NotifiedTarget, summary: Summary, at: Date): VisibilityReport {
  const zombie = summary.zombie ?? target.notified.zombie
  const routes = nextRoutes(target, summary)
  const { id, teamId, prefix, originAsn } = target
  const announcement = { announcement_id: id, cidr: prefix, origin_asn: originAsn }
  const common = { collectors_total: summary.collectorsTotal, at: at.toISOString() }
  const messages: NewMessage[] = []
  if (zombie !== target.notified.zombie) {
    const withdrawn = summary.change?.kind === 'withdrawn' ? summary.change.at.toISOString() : null
    messages.push({
      teamId,
      type: 'announcement.zombie',
      data: { ...announcement, active: zombie, withdrawn, collectors_seeing: summary.stuck, ...common },
    })
  }
  if (routes !== target.notified.routes) {
    messages.push({
      teamId,
      type: 'announcement.unexpected_origin',
      data: { ...announcement, active: routes.length > 0, routes: [...routes], ...common },
    })
  }
  const notVisible = isNotVisible(target.notified.notVisible, summary, at.getTime())
  const otherPath = isOnOtherPath(target.notified.otherPath, summary, at.getTime())
  const seen = {
    collectors_seeing: summary.origins.find(({ expected }) => expected)?.count ?? 0,
    ...common,
  }
  if (notVisible !== target.notified.notVisible) {
    const data = { ...announcement, active: notVisible, ...seen }
    messages.push({ teamId, type: 'announcement.not_visible', data })
  }
  if (otherPath !== target.notified.otherPath) {
    const data = { ...announcement, active: otherPath, ...seen }
    messages.push({ teamId, type: 'announcement.other_path', data })
  }
  return { notified: { zombie, routes, notVisible, otherPath }, messages }
}

/** Returns the same list without new routes: a changed number of collectors does not make a route new. */
function nextRoutes({ prefix, notified }: NotifiedTarget, summary: Summary): readonly SeenRoute[] {
  const now = unexpectedRoutes(prefix, summary)
  if (now.length === 0) {
    const isOver = summary.state === 'current' || summary.change?.kind !== 'announced'
    return isOver && notified.routes.length > 0 ? now : notified.routes
  }
  const known = new Set(notified.routes.map(keyOf))
  return now.every((route) => known.has(keyOf(route))) ? notified.routes : now
}

const keyOf = ({ cidr, asn }: SeenRoute): string => `${cidr} ${asn}`
