// Where one can go, and the key that goes there after `g`. The one list that the navigation, the keys and the palette read.
import type { User } from '@pharos/contract/session'
import {
  IconBroadcast,
  IconFileCheck,
  IconGavel,
  IconHome,
  IconId,
  IconRouter,
  IconShieldBolt,
  IconUser,
  IconUsers,
} from '@tabler/icons-react'

export type Place = {
  readonly to: string
  readonly label: string
  readonly key: string
  readonly icon: typeof IconHome
  readonly module?: string
  readonly staff?: true
}

const places: readonly Place[] = [
  { to: '/', label: 'Overview', key: 'o', icon: IconHome },
  { to: '/announcements', label: 'Announcements', key: 'a', icon: IconBroadcast, module: 'ipam' },
  { to: '/asns', label: 'ASNs', key: 'n', icon: IconId, module: 'ipam' },
  { to: '/events', label: 'Security events', key: 'e', icon: IconShieldBolt, module: 'lighthouse' },
  { to: '/team', label: 'Team', key: 't', icon: IconUsers },
  { to: '/profile', label: 'Profile', key: 'p', icon: IconUser },
  { to: '/staff/holds', label: 'Paused changes', key: 'h', icon: IconGavel, staff: true },
  { to: '/staff/regions', label: 'Regions', key: 'r', icon: IconRouter, staff: true },
  { to: '/staff/letters', label: 'Letters to review', key: 'l', icon: IconFileCheck, staff: true },
]

export const placesOf = ({ enabled_modules: modules, is_staff }: User): readonly Place[] =>
  places.filter(({ module, staff }) => (!module || modules.includes(module)) && (!staff || is_staff))

/** The place that an address belongs to. */
export const placeOf = (path: string): Place | undefined =>
  places.find(({ to }) => (to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`)))
