// The page of the portal that opens after a sign-in. Only paths of the portal: everything else becomes null.

/** The first segments of the pages of the portal. */
const returnPages = [
  'alerts',
  'announcements',
  'prefixes',
  'asns',
  'traffic',
  'reports',
  'events',
  'shield',
  'devices',
  'ports',
  'services',
  'cross-connects',
  'zones',
  'reverse',
  'team',
  'profile',
  'notifications',
  'staff',
] as const

const form = /^\/([a-z-]+)?(?:[/?#][\w\-./~?=&%:,@+#]*)?$/

/** Returns a path without a host: `//x`, `/\x` and encoded slashes are none. */
export function parseReturnTo(text: string | undefined): string | null {
  if (text === undefined || text.length > 500 || /[\\\0-\x20\x7f]|\/\/|%(?:2f|5c|0)/i.test(text)) return null
  const [, page] = form.exec(text) ?? []
  if (text === '/') return '/'
  return page !== undefined && (returnPages as readonly string[]).includes(page) ? text : null
}
