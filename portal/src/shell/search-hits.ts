// The portal page of a search hit.
import type { SearchHit, SearchKind } from '@pharos/contract/search'
import { classificationLabel } from '@pharos/contract/events/classification'
import { formatTime, type Zone } from '../ui/time.tsx'
import { linkOptions, type LinkOptions } from '@tanstack/react-router'

/** Returns the page of the hit; undefined for a team, which is switched to, and for kinds without a page. */
export function pageOfHit({
  kind,
  id,
  title,
}: Pick<SearchHit, 'kind' | 'id' | 'title'>): LinkOptions | undefined {
  return pages[kind]?.(id, title)
}

/** Returns the second line of a hit as people read it: an attack has the key of its class, and the time of its start. */
export function subtitleOf({ kind, subtitle }: Pick<SearchHit, 'kind' | 'subtitle'>, zone: Zone): string {
  const [key = '', start = ''] = subtitle.split(' ')
  return (kind === 'event' || kind === 'incident') && start !== ''
    ? `${classificationLabel(key)}, ${formatTime(start, zone)}`
    : subtitle
}

const pages: Readonly<Partial<Record<SearchKind, (id: string, title: string) => LinkOptions>>> = {
  announcement: (id) => linkOptions({ to: '/announcements/$id', params: { id } }),
  prefix: (id) => linkOptions({ to: '/prefixes/$id', params: { id } }),
  asn: (asn) => linkOptions({ to: '/asns/$asn', params: { asn } }),
  service: (id) => linkOptions({ to: '/services/$id', params: { id } }),
  device: (id) => linkOptions({ to: '/devices/$id', params: { id } }),
  port: (id) => linkOptions({ to: '/ports/$id', params: { id } }),
  zone: (id) => linkOptions({ to: '/zones/$id', params: { id } }),
  incident: (id) => linkOptions({ to: '/events/$id', params: { id } }),
  event: (id) => linkOptions({ to: '/events/$id', params: { id } }),
  shield_list: (_id, prefix) => linkOptions({ to: '/shield/rules', search: { prefix } }),
  member: (_id, email) => linkOptions({ to: '/team/members', search: { email } }),
  webhook: (id) => linkOptions({ to: '/team/webhooks/$id', params: { id } }),
  token: (_id, name) => linkOptions({ to: '/team/tokens', search: { name } }),
}
