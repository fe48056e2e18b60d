// The pages of the portal as the demo platform has them, for tests that visit all of them.

/** Open to an admin of a team. */
export const placesOfMembers = [
  '/',
  '/announcements',
  '/announcements/new',
  '/announcements/1',
  '/prefixes/1',
  '/asns',
  '/asns/64496',
  '/events',
  '/devices',
  '/devices/1',
  '/ports',
  '/ports/1',
  '/services',
  '/services/1',
  '/zones',
  '/zones/new',
  '/zones/import',
  '/zones/demo-networks.example',
  '/zones/demo-networks.example?tab=dnssec',
  '/zones/demo-networks.example?tab=servers',
  '/zones/demo-networks.example?tab=import',
  '/zones/demo-networks.example?tab=settings',
  '/zones/demo-networks.example?tab=history',
  '/zones/lab.demo-networks.example?tab=dnssec',
  '/zones/partner.example',
  '/zones/partner.example?tab=servers',
  '/reverse?network=2001:db8:a::/48',
  '/reverse',
  '/reverse?tab=templates',
  '/team',
  '/team/settings',
  '/team/domains',
  '/team/tokens',
  '/team/tokens/new',
  '/team/webhooks',
  '/team/audit',
  '/profile',
  '/profile/notifications',
  '/notifications',
] as const

export const placesOfStaff = [
  '/staff/inbox',
  '/staff/customers',
  '/staff/customers/1',
  '/staff/regions',
  '/staff/registries',
  '/staff/detectors',
  '/staff/holds',
  '/staff/letters',
] as const

/** Open to anyone. */
export const placesOfGuests = ['/sign-in', '/reset-password', '/invitation', '/confirm-email'] as const
